package dev.belfry.workers;

import java.time.Duration;

/**
 * The options of a call. Each method returns a copy with one of them changed.
 *
 * {@snippet :
 * CallOptions hasty = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(100));
 * }
 *
 * @param deadline how long to wait for its answer, at most {@link #MAX_DEADLINE}
 * @param delivery what happens to the call if its worker dies
 * @param overload what happens to the call if no worker has room
 */
public record CallOptions(Duration deadline, Delivery delivery, Overload overload) {
  /** The longest deadline, 20 days: workers are told in milliseconds, in 31 bits. */
  public static final Duration MAX_DEADLINE = Duration.ofDays(20);

  /** A deadline of 30 seconds; at least once; the caller waits for room. */
  public static final CallOptions DEFAULT =
      new CallOptions(Duration.ofSeconds(30), Delivery.AT_LEAST_ONCE, Overload.BLOCK);

  /** Checks the deadline. */
  public CallOptions {
    if (!deadline.isPositive() || deadline.compareTo(MAX_DEADLINE) > 0) {
      throw new IllegalArgumentException(
          "a deadline is above 0 and at most %d days, not %s"
              .formatted(MAX_DEADLINE.toDays(), deadline));
    }
  }

  /** A copy with another deadline. */
  public CallOptions withDeadline(Duration deadline) {
    return new CallOptions(deadline, delivery, overload);
  }

  /** With another choice of what happens if its worker dies. */
  public CallOptions withDelivery(Delivery delivery) {
    return new CallOptions(deadline, delivery, overload);
  }

  /** With another choice of what happens if no worker has room. */
  public CallOptions withOverload(Overload overload) {
    return new CallOptions(deadline, delivery, overload);
  }
}
