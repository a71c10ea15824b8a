package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class ProcessesTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final int PR_GET_TIMERSLACK = 30;

  @Test
  void theParentIsTheOneTheJvmKnows() {
    assertThat(Processes.parent(SYS))
        .isEqualTo(ProcessHandle.current().parent().orElseThrow().pid());
  }

  @Test
  void timerSlackIsForTheCallingThread() throws Exception {
    int before = SYS.prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    OnThread<Integer> other =
        OnThread.call(
            () -> {
              Processes.setTimerSlack(SYS, 12_345);
              return SYS.prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
            });
    assertThat(other.result()).isEqualTo(12_345);
    assertThat(SYS.prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)).isEqualTo(before);
  }

  @Test
  void whomASignalCannotReachIsNamed() {
    assertThatThrownBy(() -> Processes.kill(SYS, Integer.MAX_VALUE, Signo.TERM))
        .isInstanceOf(ErrnoException.class)
        .hasMessage("kill(SIGTERM to 2147483647): ESRCH (No such process)");
    assertThatThrownBy(() -> Processes.queue(SYS, Integer.MAX_VALUE, 40, 1))
        .isInstanceOf(ErrnoException.class)
        .hasMessage("sigqueue(SIGRTMIN+6 to 2147483647): ESRCH (No such process)");
  }

  @Test
  void aSignalThatIsNoneIsRefused() {
    assertThatThrownBy(() -> Processes.setParentDeathSignal(SYS, 99))
        .isInstanceOf(ErrnoException.class)
        .hasMessageStartingWith("prctl(PR_SET_PDEATHSIG 99): EINVAL");
  }
}
