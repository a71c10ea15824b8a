package dev.belfry.signals.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a process reports about signals that it cannot receive, depending on how it was started. */
@Timeout(120)
final class ReceivableTest {
  private static List<String> receivable(Stage stage) throws Exception {
    stage.send("TERM");
    stage.exitCode();
    return stage.all().stream().filter(line -> line.startsWith("receivable")).toList();
  }

  private static List<String> obstacles(List<String> receivable) {
    return receivable.stream().filter(line -> !line.endsWith(" yes")).toList();
  }

  // r[verify signals.supports.api]
  @Test
  void theDispatcherHasAllButQuit() throws Exception {
    try (Stage stage = Way.DISPATCHER.start("source")) {
      assertThat(obstacles(receivable(stage)))
          .satisfiesExactly(
              quit -> assertThat(quit).startsWith("receivable SIGQUIT the JVM keeps it"),
              kill -> assertThat(kill).contains("SIGKILL no program can catch it"));
      assertThat(stage.all())
          .anyMatch(line -> line.startsWith("log signal.not_receivable SIGQUIT cannot be"));
    }
  }

  // r[verify signals.platform.unix-native]
  @Test
  void theSignalfdHasAllEight() throws Exception {
    try (Stage stage = Way.SIGNALFD.start("source")) {
      assertThat(obstacles(receivable(stage)))
          .containsExactly("receivable SIGKILL no program can catch it");
    }
  }

  @Test
  void withReducedSignalsButNoMaskTheJvmGivesAwayNoneOfThoseThatEndIt() throws Exception {
    var command = new ArrayList<>(Way.DISPATCHER.command(SampleService.class, "source"));
    command.add(3, "-Xrs");
    try (Stage stage = ProcessStage.of(TestProcess.start(command))) {
      assertThat(obstacles(receivable(stage)))
          .extracting(line -> line.split(" ", 3)[1])
          .containsExactly("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGKILL");
    }
  }

  @Test
  void underNohupTheDispatcherSaysThatHangUpIsIgnored() throws Exception {
    var dispatcher = new ArrayList<>(List.of("nohup"));
    dispatcher.addAll(TestProcess.javaCommand(SampleService.class, "source"));
    try (Stage stage = ProcessStage.of(TestProcess.start(dispatcher))) {
      assertThat(obstacles(receivable(stage)))
          .anyMatch(line -> line.startsWith("receivable SIGHUP it was ignored when the process"));
    }
  }

  /** The JVM's dispatcher used to take over ignored signals other than HUP, INT and TERM. */
  // r[verify signals.platform.unix-native]
  @ParameterizedTest
  @EnumSource(
      value = Way.class,
      names = {"DISPATCHER", "SIGNALFD"})
  void whatWasIgnoredFromTheStartStaysIgnored(Way way) throws Exception {
    List<String> command = way.command(SampleService.class, "handlers");
    int java = command.indexOf(TestProcess.javaCommand(SampleService.class).getFirst());
    command.addAll(java, List.of("env", "--ignore-signal=USR1,ALRM,HUP"));
    try (Stage stage = ProcessStage.of(TestProcess.start(command))) {
      for (String ignored : List.of("USR1", "ALRM", "HUP")) {
        stage.send(ignored);
      }
      stage.send("PIPE");
      stage.line("handler SIGPIPE"); // the others were sent before
      stage.send("TERM");
      assertThat(stage.exitCode()).isEqualTo(143);
      assertThat(stage.all())
          .doesNotContain("handler SIGUSR1", "handler SIGALRM", "handler SIGHUP")
          .anyMatch(line -> line.startsWith("inactive SIGUSR1: it was ignored when"))
          .anyMatch(line -> line.startsWith("inactive SIGALRM: it was ignored when"))
          .anyMatch(line -> line.startsWith("inactive SIGHUP: it was ignored when"));
    }
  }

  @Test
  void aSignalThatCameBeforeTheSubscriptionIsNotLost() throws Exception {
    try (TestProcess process = Way.SIGNALFD.process(SampleService.class, "opens-later")) {
      process.line("started");
      ProcessStage.kill(process, "TERM");
      process.say("now");
      process.line("cleanup first");
      assertThat(process.exitCode()).isEqualTo(143);
    }
  }

  /**
   * The reload used to be rejected: a pending signal is delivered before a validator is registered.
   */
  @Test
  void aReloadThatCameBeforeTheSubscriptionFindsItsValidator() throws Exception {
    try (TestProcess process = Way.SIGNALFD.process(SampleService.class, "reloads-later")) {
      process.line("started");
      ProcessStage.kill(process, "HUP");
      process.say("now");
      assertThat(process.exitCode()).isEqualTo(129);
    }
  }
}
