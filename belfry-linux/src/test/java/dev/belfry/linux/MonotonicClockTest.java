package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class MonotonicClockTest {
  private static final int SAMPLES = 100_000;

  /** Deadlines from nanoTime are passed unchanged to the kernel and to other processes. */
  @Test
  void nanoTimeIsTheKernelsMonotonicClock() throws ErrnoException {
    Sys sys = Sys.forOneThread();
    long outOfOrder = 0;
    for (int i = 0; i < SAMPLES; i++) {
      long before = System.nanoTime();
      long kernel = MonotonicClock.nanos(sys);
      long after = System.nanoTime();
      if (kernel < before || kernel > after) {
        outOfOrder++;
      }
    }
    assertThat(outOfOrder).isZero();
  }
}
