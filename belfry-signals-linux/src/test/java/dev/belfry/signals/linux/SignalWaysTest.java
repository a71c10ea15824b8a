package dev.belfry.signals.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The same behaviour however a signal is delivered; all ways but the first use real processes. */
// r[verify signals.inject.same-path]
// r[verify signals.lib.test-helpers]
@ParameterizedClass
@EnumSource(Way.class)
@Timeout(180)
final class SignalWaysTest {
  private static final String HINT = "Press Ctrl+C again within 2s to force quit";

  private final Way way;
  @TempDir private Path directory;

  SignalWaysTest(Way way) {
    this.way = way;
  }

  // r[verify signals.platform.unix-native]
  // r[verify signals.test.unix-eight]
  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP", "QUIT", "PIPE", "ALRM", "USR1", "USR2"})
  void eachOfTheEightReachesItsHandler(String signal) throws Exception {
    try (Stage stage = way.start("handlers")) {
      stage.send(signal);
      if (signal.equals("QUIT") && !way.hasQuit()) {
        assertThat(stage.line("inactive ")).startsWith("SIGQUIT: the JVM keeps it for itself");
        // The JVM prints a thread dump and carries on.
        stage.line("Full thread dump");
        stage.send("USR1");
        assertThat(stage.line("handler ")).isEqualTo("SIGUSR1");
      } else {
        assertThat(stage.line("handler ")).isEqualTo("SIG" + signal);
      }
    }
  }

  // r[verify signals.exit.128n]
  // r[verify signals.inject.prod-exit]
  // r[verify signals.lib.behaviours]
  // r[verify signals.reload.exit129]
  @ParameterizedTest
  @CsvSource({"TERM, 143", "INT, 130", "HUP, 129"})
  void itEndsInGoodOrderWithItsCode(String signal, int code) throws Exception {
    Files.writeString(directory.resolve("config"), "good");
    try (Stage stage = way.start("reload", directory.resolve("config").toString())) {
      stage.send(signal);
      assertThat(stage.exitCode()).isEqualTo(code);
      assertThat(stage.all().stream().filter(line -> line.startsWith("cleanup")))
          .containsExactly("cleanup second", "cleanup first");
    }
  }

  @Test
  void quitEndsAtOnceWithoutCleanupUnlessTheJvmKeepsIt() throws Exception {
    try (Stage stage = way.start("bare")) {
      stage.send("QUIT");
      if (way.hasQuit()) {
        assertThat(stage.exitCode()).isEqualTo(131);
        assertThat(count(stage.all(), "cleanup")).isZero();
      } else {
        stage.line("Full thread dump");
        stage.send("TERM"); // the process still runs
        assertThat(stage.exitCode()).isEqualTo(143);
        assertThat(count(stage.all(), "cleanup")).isEqualTo(2);
      }
    }
  }

  // r[verify signals.catalog.behavior]
  @Test
  void pipeAndUnhandledCustomSignalsAreLoggedAndTheProgramGoesOn() throws Exception {
    try (Stage stage = way.start("bare")) {
      for (String signal : List.of("PIPE", "ALRM", "USR1")) {
        stage.send(signal);
        stage.line("log signal.received received SIG" + signal);
      }
      stage.send("TERM");
      assertThat(stage.exitCode()).isEqualTo(143);
    }
  }

  // r[verify signals.doubletap.force]
  // r[verify signals.doubletap.exit]
  @Test
  void twoPressesEndItWhileACleanupHangs() throws Exception {
    try (Stage stage = way.start("hanging")) {
      stage.send("INT");
      stage.line("hanging");
      stage.send("INT");
      assertThat(stage.exitCode()).isEqualTo(130);
      assertThat(stage.all()).contains("Force quitting...");
    }
  }

  /** What hangs is a handler, a cleanup, or one of the JVM's own shutdown hooks. */
  @ParameterizedTest
  @CsvSource({
    "hanging-everywhere, handler hangs",
    "hanging-behind, cleanup hangs",
    "hanging-hook, log signal.exit"
  })
  void twoPressesEndItWhateverHangs(String scenario, String hangs) throws Exception {
    try (Stage stage = way.start(scenario)) {
      stage.send("INT");
      stage.line(hangs);
      stage.send("INT");
      assertThat(stage.exitCode()).isEqualTo(130);
      if (way != Way.INJECTED || !scenario.equals("hanging-hook")) { // else the first ended it
        assertThat(stage.all()).contains("Force quitting...");
      }
    }
  }

  // r[verify signals.doubletap.reset]
  @Test
  void aLatePressHintsAgainAndRerunsNothing() throws Exception {
    try (Stage stage = way.start("slow")) {
      stage.send("INT");
      stage.line("slow");
      stage.line(HINT);
      stage.pass(SampleService.SHORT_WINDOW);
      stage.send("INT");
      stage.line(HINT);
      stage.line("log signal.ignored");
      stage.send("USR1"); // lets the cleanup finish
      assertThat(stage.exitCode()).isEqualTo(130);
      assertThat(count(stage.all(), "slow")).isEqualTo(1);
      assertThat(count(stage.all(), "cleanup")).isEqualTo(2);
      assertThat(count(stage.all(), HINT)).isEqualTo(2);
      assertThat(count(stage.all(), "Force quitting...")).isZero();
    }
  }

  // r[verify signals.timeout.catalog]
  @ParameterizedTest
  @CsvSource({"TERM, 143", "INT, 130"})
  void afterTheTimeLimitItEndsAllTheSame(String signal, int code) throws Exception {
    try (Stage stage = way.start("hasty")) {
      stage.send(signal);
      stage.line("hanging");
      stage.pass(SampleService.SHORT_LIMIT);
      assertThat(stage.exitCode()).isEqualTo(code);
      assertThat(stage.line("log signal.unfinished")).contains("hanging, second, first");
      assertThat(stage.line("log signal.exit")).contains("how=\"time limit\"");
    }
  }

  @Test
  void aHandlerRegisteredLaterIsHeardAndTermStillWorks() throws Exception {
    try (Stage stage = way.start("late")) {
      stage.send("USR1");
      stage.line("registered");
      stage.send("USR2");
      assertThat(stage.line("late handler ")).isEqualTo("SIGUSR2");
      stage.send("TERM");
      assertThat(stage.exitCode()).isEqualTo(143);
    }
  }

  // r[verify signals.register.may-exit]
  @Test
  void aHandlerMayEndTheProcessItselfAndTheChainRunsOnce() throws Exception {
    try (Stage stage = way.start("exits")) {
      stage.send("TERM");
      assertThat(stage.exitCode()).isEqualTo(143);
      assertThat(stage.all().stream().filter(line -> line.startsWith("cleanup")))
          .containsExactly("cleanup second", "cleanup first");
    }
  }

  // r[verify signals.cancel.bridge]
  @Test
  void aSignalCancelsAFutureAndInterruptsAThread() throws Exception {
    try (Stage stage = way.start("cancel")) {
      stage.send("USR1");
      assertThat(stage.line("cancelled ")).isEqualTo("true");
      stage.send("USR2");
      stage.line("interrupted");
    }
  }

  // r[verify signals.reload.reject-continue]
  @Test
  void threeInvalidReloadsAreRejectedWithOneAlertThenAValidOneLeaves() throws Exception {
    Path config = directory.resolve("config");
    Files.writeString(config, "nonsense");
    try (Stage stage = way.start("reload", config.toString())) {
      for (int failures = 1; failures <= 3; failures++) {
        stage.send("HUP");
        stage.line("log signal.reload_rejected");
      }
      stage.line("alert config_reload_failures");
      Files.writeString(config, "good");
      stage.send("HUP");
      stage.line("cleanup first");
      assertThat(stage.exitCode()).isEqualTo(129);
      List<String> all = stage.all();
      assertThat(count(all, "log signal.reload_rejected")).isEqualTo(3);
      assertThat(count(all, "alert ")).isEqualTo(1);
      assertThat(count(all, "cleanup ")).isEqualTo(2);
    }
    try (Stage next = way.start("reload", config.toString())) {
      next.send("TERM");
      assertThat(next.exitCode()).isEqualTo(143);
    }
  }

  private static long count(List<String> lines, String prefix) {
    return lines.stream().filter(line -> line.startsWith(prefix)).count();
  }
}
