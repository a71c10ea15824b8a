package dev.belfry.workers;

import java.time.Duration;

/**
 * How a call is treated.
 *
 * @param deadline how long to wait for its answer
 * @param delivery what becomes of it when its worker dies
 * @param overload what becomes of it when no worker has room
 */
public record CallOptions(Duration deadline, Delivery delivery, Overload overload) {
  private static final Duration LONGEST = Duration.ofDays(20);

  /** Half a minute; at least once; the caller waits for room. */
  public static final CallOptions DEFAULT =
      new CallOptions(Duration.ofSeconds(30), Delivery.AT_LEAST_ONCE, Overload.BLOCK);

  /** Checks the values. */
  public CallOptions {
    if (deadline.isNegative() || deadline.isZero() || deadline.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("a deadline is above 0 and at most 20 days: " + deadline);
    }
  }

  /** The same with a deadline. */
  public CallOptions within(Duration limit) {
    return new CallOptions(limit, delivery, overload);
  }

  /** The same with another delivery. */
  public CallOptions with(Delivery policy) {
    return new CallOptions(deadline, policy, overload);
  }

  /** The same with another answer to overload. */
  public CallOptions with(Overload policy) {
    return new CallOptions(deadline, delivery, policy);
  }
}
