package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TimerFdTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(OnThread.PATIENCE_SECONDS);

  private final PollSet set = new PollSet(SYS, 1);
  private TimerFd timer;

  @BeforeEach
  void open() throws ErrnoException {
    timer = TimerFd.create(SYS);
    set.set(0, timer.number(), PollSet.IN);
  }

  @AfterEach
  void close() {
    timer.close();
  }

  private boolean firesUntil(long deadlineNanos) {
    return set.await(deadlineNanos) == 1;
  }

  @Test
  void itFiresAtItsTimeAndNotBefore() {
    long deadline = System.nanoTime() + 30_000_001;
    assertThat(timer.setDeadline(deadline)).isZero();

    assertThat(firesUntil(System.nanoTime() + LONG_NANOS)).isTrue();
    assertThat(System.nanoTime()).isGreaterThanOrEqualTo(deadline);
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1, 1_000_000_000})
  void aTimeThatHasPassedFiresAtOnce(long deadline) {
    assertThat(timer.setDeadline(deadline)).isZero();
    assertThat(firesUntil(System.nanoTime() + LONG_NANOS)).isTrue();
  }

  @Test
  void itIsSilentUntilItIsSetAndAfterItWasCleared() {
    assertThat(firesUntil(0)).isFalse();
    timer.setDeadline(1);
    assertThat(firesUntil(0)).isTrue();

    assertThat(timer.clear()).isZero();

    assertThat(firesUntil(0)).isFalse();
  }

  @Test
  void settingItAgainReplacesWhatWasSet() {
    timer.setDeadline(System.nanoTime() + 100 * LONG_NANOS);
    timer.setDeadline(System.nanoTime() + 1_000_000);
    assertThat(firesUntil(System.nanoTime() + LONG_NANOS)).isTrue();

    timer.setDeadline(System.nanoTime() + 100 * LONG_NANOS);
    assertThat(firesUntil(0)).as("what had fired is forgotten").isFalse();
  }

  @Test
  void itIsCloseOnExecAndNeverBlocks() throws ErrnoException {
    assertThat(FdFlags.isCloseOnExec(SYS, timer.number())).isTrue();
    assertThat(FdFlags.isNonBlocking(SYS, timer.number())).isTrue();
  }
}
