package dev.belfry.shm;

import dev.belfry.linux.Futex;
import java.time.Duration;

/** Times of {@link System#nanoTime} at which to stop waiting. */
final class Deadlines {
  /** One that never comes. */
  static final long FOREVER = Futex.FOREVER;

  private Deadlines() {}

  /** The end of a duration that begins now; one too long to be counted never ends. */
  static long after(Duration duration) {
    long nanos;
    try {
      nanos = Math.max(0, duration.toNanos());
    } catch (ArithmeticException tooLong) {
      return duration.isNegative() ? System.nanoTime() : FOREVER;
    }
    long deadline = System.nanoTime() + nanos;
    return nanos > FOREVER / 2 ? FOREVER : deadline;
  }

  /** The earlier of two. */
  static long earlier(long one, long other) {
    if (one == FOREVER || other == FOREVER) {
      return one == FOREVER ? other : one;
    }
    return one - other < 0 ? one : other;
  }

  /** Whether it has come. */
  static boolean isOver(long deadlineNanos) {
    return deadlineNanos != FOREVER && System.nanoTime() - deadlineNanos >= 0;
  }

  /** How long it is until then. */
  static long restNanos(long deadlineNanos) {
    return deadlineNanos == FOREVER ? Long.MAX_VALUE : deadlineNanos - System.nanoTime();
  }
}
