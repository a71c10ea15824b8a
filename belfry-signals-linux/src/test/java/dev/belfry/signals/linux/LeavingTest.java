package dev.belfry.signals.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of a process whose own threads have all ended. */
@ParameterizedClass
@EnumSource(
    value = Way.class,
    names = {"DISPATCHER", "SIGNALFD"})
@Timeout(180)
final class LeavingTest {
  private final Way way;

  LeavingTest(Way way) {
    this.way = way;
  }

  /** It exited with 0, in the midst of its cleanups. */
  // r[verify signals.exit.128n]
  @ParameterizedTest
  @CsvSource({
    "stopped, TERM, 143",
    "stopped, INT, 130",
    "next, TERM, 143",
    "closes, TERM, 143",
    "closes, INT, 130"
  })
  void cleanupsRunToTheirEndAndTheCodeIsThatOfTheSignal(String scenario, String signal, int code)
      throws Exception {
    try (TestProcess process = way.process(LeavingService.class, scenario)) {
      process.line("ready");
      ProcessStage.kill(process, signal);
      assertThat(process.exitCode()).isEqualTo(code);
      assertThat(process.rest()).contains("store closed");
    }
  }

  /** Closing the signals took the time limit away from the end that was under way. */
  @Test
  void aCleanupThatHangsIsCutOffAlsoIfTheSignalsAreClosedMeanwhile() throws Exception {
    try (TestProcess process = way.process(LeavingService.class, "closes-and-hangs")) {
      process.line("ready");
      ProcessStage.kill(process, "TERM");
      process.line("closed");
      assertThat(process.exitCode()).isEqualTo(143);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "nothing-ends, ''",
    "closed-before, ''",
    "exit-returns, exit 143",
    "exit-throws, exit 143",
    "test-hangs, ''"
  })
  void nothingKeepsAProcessAliveThatIsNotEnding(String scenario, String said) throws Exception {
    try (TestProcess process = way.process(LeavingService.class, scenario)) {
      assertThat(process.exitCode()).isZero();
      List<String> lines = process.rest();
      assertThat(lines).doesNotContain("cleanup");
      if (!said.isEmpty()) {
        assertThat(lines).contains(said);
      }
    }
  }
}
