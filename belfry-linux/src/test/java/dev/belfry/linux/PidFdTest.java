package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PidFdTest {
  private static final Sys SYS = Sys.forAnyThread();

  private static PidFd shell(String script) throws ErrnoException {
    return Spawn.command("sh", "-c", script).start(SYS);
  }

  private static boolean endsUntil(PidFd child, long deadlineNanos) {
    var set = new PollSet(SYS, 1);
    set.set(0, child.number(), PollSet.IN);
    return set.await(deadlineNanos) == 1;
  }

  private static long soon() {
    return System.nanoTime() + TimeUnit.SECONDS.toNanos(OnThread.PATIENCE_SECONDS);
  }

  @ParameterizedTest
  @CsvSource({
    "exit 0, exit code 0, 0",
    "exit 77, exit code 77, 77",
    "kill -9 $$, killed by SIGKILL, 137",
    "kill -TERM $$, killed by SIGTERM, 143"
  })
  void itTellsHowAChildEnded(String script, String expected, int shellCode) throws Exception {
    try (PidFd child = shell(script)) {
      ExitStatus status = child.awaitExit();
      assertThat(status).hasToString(expected);
      assertThat(status.shellCode()).isEqualTo(shellCode);
      assertThat(status.coreDumped()).isFalse();
    }
  }

  @Test
  void itIsReadableWhenTheChildHasEndedAndReapedOnce() throws Exception {
    try (PidFd child = shell("exec sleep 1000")) {
      assertThat(child.reap()).as("it lives").isEmpty();
      assertThat(endsUntil(child, 0)).isFalse();

      child.sendSignal(Signo.TERM);

      assertThat(endsUntil(child, soon())).isTrue();
      child.sendSignal(Signo.KILL); // its status has not been taken yet
      assertThat(child.reap()).contains(new ExitStatus(true, Signo.TERM, false));
      assertThatThrownBy(child::reap)
          .isInstanceOf(ErrnoException.class)
          .hasMessage("waitid(process " + child.pid() + "): ECHILD (No child processes)");
      assertThatThrownBy(() -> child.sendSignal(Signo.KILL))
          .isInstanceOf(ErrnoException.class)
          .hasMessageStartingWith(
              "pidfd_send_signal(SIGKILL to process " + child.pid() + "): ESRCH");
    }
  }

  @Test
  void itIsCloseOnExecAndKnowsItsProcess() throws Exception {
    try (PidFd child = shell("exec sleep 1000")) {
      assertThat(FdFlags.isCloseOnExec(SYS, child.number())).isTrue();
      assertThat(ProcessHandle.of(child.pid()).flatMap(ProcessHandle::parent))
          .contains(ProcessHandle.current());
      child.sendSignal(Signo.KILL);
      child.awaitExit();
    }
  }

  @Test
  void aProcessThatIsNoChildCanBeWatchedButNotReaped() throws Exception {
    try (PidFd parent = PidFd.open(SYS, Processes.parent(SYS))) {
      assertThat(endsUntil(parent, 0)).isFalse();
      assertThatThrownBy(parent::reap).hasMessageContaining("ECHILD");
    }
  }

  @Test
  void aProcessThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> PidFd.open(SYS, Integer.MAX_VALUE))
        .isInstanceOf(ErrnoException.class)
        .hasMessage("pidfd_open(process 2147483647): ESRCH (No such process)");
  }

  @Test
  void itTellsWhetherAChildLeftACore(@TempDir Path directory) throws Exception {
    assumeThat(Files.readString(Path.of("/proc/sys/kernel/core_pattern")))
        .as("cores go to a program of this machine")
        .doesNotStartWith("|");
    assumeThat(ResourceLimit.CORE.get(SYS).hard()).as("cores may be written").isNotZero();
    String crash = "cd '" + directory + "' && ulimit -c %s && kill -SEGV $$";
    try (PidFd with = shell(crash.formatted("$(ulimit -H -c)"));
        PidFd without = shell(crash.formatted("0"))) {
      assertThat(with.awaitExit()).hasToString("killed by SIGSEGV (core dumped)");
      assertThat(without.awaitExit()).hasToString("killed by SIGSEGV");
    }
  }

  @Test
  void aCoreDumpIsMentioned() {
    assertThat(new ExitStatus(true, Signo.SEGV, true))
        .hasToString("killed by SIGSEGV (core dumped)");
  }
}
