package dev.belfry.bench.timers;

import java.util.SplittableRandom;

/** The delays of the timers: the same for all contenders, unsorted. */
final class Delays {
  private static final int COUNT = 1 << 14;
  private static final long MINUTE_NANOS = 60_000_000_000L;

  private final long[] nanos = new long[COUNT];
  private int next;

  private Delays(long from, long to) {
    var random = new SplittableRandom(42);
    for (int i = 0; i < COUNT; i++) {
      nanos[i] = random.nextLong(from, to);
    }
  }

  /** So far away that they never fire during a run: one to sixty minutes. */
  static Delays far() {
    return new Delays(MINUTE_NANOS, 60 * MINUTE_NANOS);
  }

  /** At most a tenth of a millisecond. */
  static Delays soon() {
    return new Delays(0, 100_000);
  }

  long next() {
    return nanos[next++ & (COUNT - 1)];
  }
}
