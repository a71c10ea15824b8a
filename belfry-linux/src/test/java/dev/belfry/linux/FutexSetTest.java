package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class FutexSetTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final int STRIDE = 64;

  private final Arena arena = Arena.ofShared();
  private MemorySegment here;
  private MemorySegment there;

  @BeforeEach
  void map() throws ErrnoException {
    long bytes = (long) FutexSet.MAX_WORDS * STRIDE;
    try (Fd file = SharedFile.createAnonymous(SYS, "futex-set-test")) {
      SharedFile.truncate(SYS, file.number(), bytes);
      here = SharedFile.map(SYS, file.number(), bytes, true, arena);
      there = SharedFile.map(SYS, file.number(), bytes, true, arena);
    }
  }

  @AfterEach
  void unmap() {
    arena.close();
  }

  private FutexSet set(int count) {
    var set = new FutexSet(SYS, count);
    for (int i = 0; i < count; i++) {
      here.set(JAVA_INT, (long) i * STRIDE, -i);
      set.set(i, word(here, i), -i);
    }
    return set;
  }

  private static MemorySegment word(MemorySegment mapping, int index) {
    return mapping.asSlice((long) index * STRIDE, 4);
  }

  @Test
  void itTellsWhichWordWasWoken() throws Exception {
    FutexSet set = set(FutexSet.MAX_WORDS);
    OnThread<Integer> sleeper = OnThread.call(() -> set.await(FutexSet.MAX_WORDS, Futex.FOREVER));

    FutexTest.wakeOne(word(there, 101));

    assertThat(sleeper.result()).isEqualTo(101);
  }

  @Test
  void aWordThatHasChangedIsNotWaitedFor() {
    FutexSet set = set(3);
    there.set(JAVA_INT, 2 * STRIDE, 77);

    assertThat(set.await(3, Futex.FOREVER)).isEqualTo(-Errno.EAGAIN);
    assertThat(set.await(2, 0)).as("the changed one does not count").isEqualTo(-Errno.ETIMEDOUT);
  }

  @Test
  void theDeadlineIsNeverEarly() {
    FutexSet set = set(2);
    for (long nanos = 1; nanos < 50_000_000; nanos *= 7) {
      long deadline = System.nanoTime() + nanos;
      assertThat(set.await(2, deadline)).isEqualTo(-Errno.ETIMEDOUT);
      assertThat(System.nanoTime()).isGreaterThanOrEqualTo(deadline);
    }
    assertThat(set.await(2, Long.MIN_VALUE)).isEqualTo(-Errno.ETIMEDOUT);
  }

  @Test
  void moreWordsThanTheKernelTakesAreRefused() {
    assertThatThrownBy(() -> new FutexSet(SYS, 129))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("129");
    assertThatThrownBy(() -> new FutexSet(SYS, 0)).isInstanceOf(IllegalArgumentException.class);
  }
}
