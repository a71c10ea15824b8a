package dev.belfry.signals.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What happens to a process whose own threads have all ended. */
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

  /** The process used to exit with 0 in the middle of its cleanups. */
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

  /** Closing the signals used to cancel the time limit of the shutdown under way. */
  @Test
  void aCleanupThatHangsIsCutOffAlsoIfTheSignalsAreClosedMeanwhile() throws Exception {
    try (TestProcess process = way.process(LeavingService.class, "closes-and-hangs")) {
      process.line("ready");
      ProcessStage.kill(process, "TERM");
      process.line("closed");
      assertThat(process.exitCode()).isEqualTo(143);
    }
  }

  @Test
  void twoPressesForceTheExitAlsoIfTheSignalsAreClosedMeanwhile() throws Exception {
    try (TestProcess process = way.process(LeavingService.class, "closes-and-hangs-for-long")) {
      process.line("ready");
      ProcessStage.kill(process, "INT");
      process.line("closed");
      ProcessStage.kill(process, "INT");
      assertThat(process.exitCode()).isEqualTo(130);
      assertThat(process.rest()).contains("Force quitting...");
    }
  }

  /** Runs in a session of its own, in which any process that it started would be found. */
  // r[verify signals.reload.supervisor]
  @Test
  void aReloadStartsNobody(@TempDir Path directory) throws Exception {
    Path config = Files.writeString(directory.resolve("config"), "good");
    var command = new ArrayList<>(List.of("setsid"));
    command.addAll(way.command(SampleService.class, "reload", config.toString()));
    try (TestProcess process = TestProcess.start(command)) {
      process.line("ready");
      long session = process.pid();
      assertThat(ofSession(session)).containsExactly(session);
      ProcessStage.kill(process, "HUP");
      assertThat(process.exitCode()).isEqualTo(129);
      assertThat(process.rest()).contains("descendants 0");
      assertThat(ofSession(session)).isEmpty();
    }
  }

  /** Returns the processes of a session. */
  private static List<Long> ofSession(long session) {
    return ProcessHandle.allProcesses()
        .map(ProcessHandle::pid)
        .filter(pid -> session(pid) == session)
        .toList();
  }

  /** Returns the session of a process, or -1 if the process has ended; see proc_pid_stat(5). */
  private static long session(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      String[] behindName = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return behindName[0].equals("Z") ? -1 : Long.parseLong(behindName[3]);
    } catch (IOException ended) {
      return -1;
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
