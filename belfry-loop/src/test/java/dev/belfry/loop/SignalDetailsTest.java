package dev.belfry.loop;

import static dev.belfry.loop.SignalLoop.PID;
import static dev.belfry.loop.SignalLoop.RT;
import static dev.belfry.loop.SignalLoop.SYS;
import static dev.belfry.loop.SignalLoop.kill;
import static dev.belfry.loop.SignalLoop.queue;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.PidFd;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.SignalLoop.Waiter;

/** The details of a signal. The only child of this process is the one whose end is reported. */
@InSignalJvm
final class SignalDetailsTest {
  private static final int CLD_EXITED = 1;

  // r[verify sig.await.info]
  @EveryBackend
  void aSignalSaysHowItWasSentAndByWhom(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, Signo.USR1, RT)) {
      kill(Signo.USR1);
      SignalInfo killed = next(tested, Signo.USR1);
      assertThat(killed.code()).isZero();
      assertThat(killed.pid()).isEqualTo(PID);

      queue(RT, 42, -1);
      SignalInfo queued = next(tested, RT);
      assertThat(queued.code()).isEqualTo(-1);
      assertThat(queued.pid()).isEqualTo(PID);
      assertThat(queued.uid()).isEqualTo(killed.uid());
      assertThat(queued.value()).isEqualTo(42);
      assertThat(queued.intValue()).isEqualTo(42);
      assertThat(next(tested, RT).intValue()).isEqualTo(-1);
    }
  }

  // r[verify sig.await.info]
  @EveryBackend
  void theEndOfAChildTellsItsStatus(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, Signo.CHLD);
        PidFd child = Spawn.command("/bin/sh", "-c", "exit 3").start(SYS)) {
      SignalInfo info = next(tested, Signo.CHLD);
      assertThat(info.status()).isEqualTo(3);
      assertThat(info.pid()).isEqualTo(child.pid());
      assertThat(info.code()).isEqualTo(CLD_EXITED);
      assertThat(info.name()).isEqualTo("SIGCHLD");
      assertThat(child.awaitExit().number()).isEqualTo(3);
    }
  }

  private static SignalInfo next(SignalLoop tested, int signum) throws Exception {
    Waiter waiter = tested.waiter(signum);
    tested.drive(waiter::isDone);
    return waiter.operation.result();
  }
}
