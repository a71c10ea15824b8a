package dev.belfry.shm;

import dev.belfry.linux.Futex;
import java.time.Duration;

/** Deadlines on the clock of {@link System#nanoTime}. */
final class Deadlines {
  /** A deadline that never comes. */
  static final long FOREVER = Futex.FOREVER;

  private Deadlines() {}

  /**
   * The deadline after a duration from now; {@link #FOREVER} if the duration is too long to count.
   */
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

  /** The earlier of two deadlines. */
  static long earlier(long one, long other) {
    if (one == FOREVER || other == FOREVER) {
      return one == FOREVER ? other : one;
    }
    return one - other < 0 ? one : other;
  }

  /** Whether a deadline has passed. */
  static boolean isOver(long deadlineNanos) {
    return deadlineNanos != FOREVER && System.nanoTime() - deadlineNanos >= 0;
  }

  /** The time left until a deadline. */
  static long restNanos(long deadlineNanos) {
    return deadlineNanos == FOREVER ? Long.MAX_VALUE : deadlineNanos - System.nanoTime();
  }
}
