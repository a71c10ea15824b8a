package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a host does on HUP and USR1. {@link RunEndIT} shows how it ends. */
class RunSignalsIT {
  @TempDir private Path directory = Path.of("");

  @Test
  void hangUpWithABadConfigurationIsRejectedWithLineAndField() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      var call = host.sleep(Duration.ofMillis(700));
      Files.writeString(config, "workers:\n  builtin: demo\n  count: none\n");
      host.program().signal(Signo.HUP);

      host.program().awaitErr("reload rejected");
      assertThat(call.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
      assertThat(host.call("upper", "on").get(60, TimeUnit.SECONDS).body()).isEqualTo("ON");
      host.program().signal(Signo.TERM);
      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(143);
      assertThat(result.err())
          .contains(
              "reload rejected", "line 3: workers.count: \\\"none\\\" must be a whole number");
    }
  }

  /** Regression: the log only had the name of the exception. */
  @Test
  void hangUpWithoutItsConfigurationIsRejectedInWords() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      Files.delete(config);
      host.program().signal(Signo.HUP);

      host.program().awaitErr("reload rejected");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().err())
          .contains("the new configuration is invalid: there is no file " + config)
          .doesNotContain("NoSuchFileException");
    }
  }

  /** Regression: the host ended, and could not restart because another process had the port. */
  @Test
  void hangUpToAPortOfSomebodyElseIsRejected() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString());
        var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      String text = Files.readString(config);
      Files.writeString(config, text.replaceFirst("127.0.0.1:0", address));
      host.program().signal(Signo.HUP);

      host.program().awaitErr("reload rejected");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().err())
          .contains("the gateway cannot listen at " + address + ": the port is taken");
    }
  }

  /** Regression: as the port was its own elsewhere, the host ended and could not restart. */
  @Test
  void hangUpToItsOwnPortAtAnAddressOfSomebodyElseIsRejected() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.2"))) {
      int port = taken.getLocalPort();
      Path config = HostProgram.config(directory);
      String text = Files.readString(config).replaceFirst("127.0.0.1:0", "127.0.0.1:" + port);
      Files.writeString(config, text);
      try (HostProgram host = HostProgram.start(directory, config.toString())) {
        Files.writeString(config, text.replace("127.0.0.1:" + port, "127.0.0.2:" + port));
        host.program().signal(Signo.HUP);
        host.program().awaitErr("the gateway cannot listen at 127.0.0.2:" + port);

        Files.writeString(config, text);
        host.program().signal(Signo.HUP);
        assertThat(host.program().end().exitCode()).isEqualTo(129);
      }
    }
  }

  /** Regression: the host outlived its terminal, unseen, and held the ports. */
  @ParameterizedTest
  @ValueSource(strings = {"", "--supervise"})
  void hangUpWithoutAFileEndsItAsThereIsNothingToReload(String option) throws Exception {
    String[] arguments = option.isEmpty() ? new String[0] : new String[] {option};
    try (DemoPorts _ = DemoPorts.hold();
        HostProgram host = HostProgram.start(directory, arguments)) {
      var call = host.sleep(Duration.ofMillis(700));
      host.program().signal(Signo.HUP);

      assertThat(call.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(129);
      assertThat(result.err()).doesNotContain("reload");
    }
  }

  @Test
  void usr1WritesItsStateToTheLog() throws Exception {
    Path config = HostProgram.config(directory, "logging: {format: json}");
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      host.call("echo", "once").get(60, TimeUnit.SECONDS);
      host.program().signal(Signo.USR1);
      host.program().awaitErr("the handlers of SIGUSR1 ran");
      host.program().signal(Signo.TERM);

      String log = host.program().end().err();
      assertThat(log).contains("3 workers, 1 calls finished, 0 failed");
      assertThat(log.lines()).allMatch(line -> line.startsWith("{\"timestamp\":"));
    }
  }

  /** Regression: its lines came before the signal's record, or after that of its completion. */
  @Test
  void theLogTellsOfASignalInTheOrderInWhichThingsHappened() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      for (int i = 1; i <= 20; i++) {
        host.program().signal(Signo.USR1);
        host.program().awaitErr("the handlers of SIGUSR1 ran", i);
      }
      host.program().signal(Signo.TERM);

      Pattern steps =
          Pattern.compile("received SIGUSR1|3 workers, 0|is (starting|ready|spare):|SIGUSR1 ran");
      String told =
          steps
              .matcher(host.program().end().err())
              .results()
              .map(it -> it.group().replaceFirst("^is .*", "is there"))
              .collect(Collectors.joining("\n"));
      String once = "received SIGUSR1\n3 workers, 0\n" + "is there\n".repeat(3) + "SIGUSR1 ran\n";
      assertThat(told + "\n").isEqualTo(once.repeat(20));
    }
  }
}
