package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two mappings of one file stand for two processes: the kernel identifies the word by the file. */
final class FutexTest {
  private static final Sys SYS = Sys.forAnyThread();

  private final Arena arena = Arena.ofShared();
  private MemorySegment here;
  private MemorySegment there;

  @BeforeEach
  void map() throws ErrnoException {
    try (Fd file = SharedFile.createAnonymous(SYS, "futex-test")) {
      SharedFile.truncate(SYS, file.number(), 4096);
      here = SharedFile.map(SYS, file.number(), 4096, true, arena).asSlice(64, 4);
      there = SharedFile.map(SYS, file.number(), 4096, true, arena).asSlice(64, 4);
    }
    assertThat(here.address()).isNotEqualTo(there.address());
  }

  @AfterEach
  void unmap() {
    arena.close();
  }

  @Test
  void aSleeperIsWokenThroughAnotherMapping() throws Exception {
    here.set(JAVA_INT, 0, 5);
    OnThread<Integer> sleeper = OnThread.call(() -> new Futex(SYS).await(here, 5, Futex.FOREVER));

    wakeOne(there);

    assertThat(sleeper.result()).isZero();
  }

  @Test
  void onlySoManyAreWoken() throws Exception {
    OnThread<Integer> first = OnThread.call(() -> new Futex(SYS).await(here, 0, Futex.FOREVER));
    OnThread<Integer> second = OnThread.call(() -> new Futex(SYS).await(here, 0, Futex.FOREVER));

    wakeOne(there);
    wakeOne(there);

    assertThat(first.result()).isZero();
    assertThat(second.result()).isZero();
    assertThat(Futex.wake(SYS, there, Integer.MAX_VALUE)).as("nobody is left").isZero();
  }

  @Test
  void aWordThatHasChangedIsNotWaitedFor() {
    there.set(JAVA_INT, 0, 6);
    assertThat(new Futex(SYS).await(here, 5, Futex.FOREVER)).isEqualTo(-Errno.EAGAIN);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 100_000, 5_000_000, 1_000_000_001})
  void theDeadlineIsNeverEarly(long nanos) {
    long deadline = System.nanoTime() + nanos;
    assertThat(new Futex(SYS).await(here, 0, deadline)).isEqualTo(-Errno.ETIMEDOUT);
    assertThat(System.nanoTime())
        .isBetween(deadline, deadline + TimeUnit.SECONDS.toNanos(OnThread.PATIENCE_SECONDS));
  }

  @Test
  void aDeadlineLongAgoIsOverAtOnce() {
    assertThat(new Futex(SYS).await(here, 0, -1)).isEqualTo(-Errno.ETIMEDOUT);
    assertThat(new Futex(SYS).await(here, 0, Long.MIN_VALUE)).isEqualTo(-Errno.ETIMEDOUT);
  }

  @Test
  void aWordThatIsNotAlignedIsRefused() {
    MemorySegment odd = arena.allocate(16).asSlice(2, 4);
    assertThat(new Futex(SYS).await(odd, 0, 0)).isEqualTo(-Errno.EINVAL);
    assertThat(Futex.wake(SYS, odd, 1)).isNegative();
  }

  /** Wakes until there is a sleeper to wake: it may not have gone to sleep yet. */
  static void wakeOne(MemorySegment word) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(OnThread.PATIENCE_SECONDS);
    int woken = Futex.wake(SYS, word, 1);
    while (woken == 0 && System.nanoTime() < deadline) {
      Thread.onSpinWait();
      woken = Futex.wake(SYS, word, 1);
    }
    assertThat(woken).isEqualTo(1);
  }
}
