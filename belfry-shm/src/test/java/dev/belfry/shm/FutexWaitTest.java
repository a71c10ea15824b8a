package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waiting on a single word. */
final class FutexWaitTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final VarHandle INT = JAVA_INT.varHandle();

  private final MemorySegment word = Arena.ofAuto().allocate(JAVA_INT);

  private static long soon() {
    return System.nanoTime() + 30_000_000_000L;
  }

  @Test
  void aWakeEndsTheWait() throws Exception {
    Sleeper<WaitResult> sleeper = Sleeper.start(() -> new FutexWait(SYS).await(word, 0, soon()));
    // A thread that is seen in its system call may not be queued yet.
    long deadline = soon();
    while (FutexWait.wake(SYS, word, 1) == 0) {
      assertThat(System.nanoTime()).isLessThan(deadline);
    }
    assertThat(sleeper.get()).isEqualTo(WaitResult.WOKEN);
  }

  @Test
  void aWordWithAnotherValueIsNotWaitedFor() {
    assertThat(new FutexWait(SYS).await(word, 1, soon())).isEqualTo(WaitResult.CHANGED);
  }

  @Test
  void aDeadlineEndsTheWaitAndNotBefore() {
    long deadline = System.nanoTime() + 20_000_000;
    assertThat(new FutexWait(SYS).await(word, 0, deadline)).isEqualTo(WaitResult.TIMEOUT);
    assertThat(System.nanoTime()).isGreaterThanOrEqualTo(deadline);
  }

  // r[verify shm.wakeup.wakes]
  @Test
  void wakingNobodyIsNothing() {
    assertThat(FutexWait.wake(SYS, word, 1)).isZero();
  }

  @Test
  void anErrorOfTheKernelIsThrown() {
    SysTap tap = SysTap.over(SYS);
    tap.fail("futex", Errno.EFAULT);
    assertThatThrownBy(() -> new FutexWait(tap.sys()).await(word, 0, soon()))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("EFAULT");
  }

  // r[verify shm.wakeup.fallback]
  @Test
  void pausesDoubleFromAMicrosecondToAMillisecond() {
    long pause = Backoff.FIRST_NANOS;
    assertThat(pause).isEqualTo(1_000);
    long slept = 0;
    int tries = 0;
    for (; slept < 1_000_000_000; tries++) {
      slept += pause;
      long next = Backoff.next(pause);
      assertThat(next).isEqualTo(Math.min(2 * pause, 1_000_000));
      pause = next;
    }
    assertThat(tries).as("in a second").isLessThan(1100);
  }

  // r[verify shm.wakeup.fallback]
  @ParameterizedTest
  @ValueSource(ints = {Errno.ENOSYS, Errno.EPERM})
  void withoutFutexesItPolls(int errno) throws Exception {
    SysTap tap = SysTap.over(SYS);
    tap.fail("futex", errno);
    var wait = new FutexWait(tap.sys());
    assertThat(wait.await(word, 0, System.nanoTime() + 5_000_000)).isEqualTo(WaitResult.TIMEOUT);
    assertThat(wait.await(word, 1, soon())).isEqualTo(WaitResult.CHANGED);
    assertThat(tap.calls("futex")).as("asked once, then never again").isEqualTo(1);
    assertThat(FutexWait.wake(tap.sys(), word, 1)).isZero();

    Thread changing = Thread.ofPlatform().start(() -> INT.setRelease(word, 0L, 7));
    assertThat(wait.await(word, 0, soon())).isEqualTo(WaitResult.CHANGED);
    changing.join();
  }

  @Test
  void aVirtualThreadNeverSitsInTheSystemCall() throws Exception {
    SysTap tap = SysTap.over(SYS);
    var result = new CompletableFuture<WaitResult>();
    Thread.ofVirtual()
        .start(
            () ->
                result.complete(
                    new FutexWait(tap.sys()).await(word, 0, System.nanoTime() + 3_000_000)));
    assertThat(result.get()).isEqualTo(WaitResult.TIMEOUT);
    assertThat(tap.calls("futex")).isZero();
  }
}
