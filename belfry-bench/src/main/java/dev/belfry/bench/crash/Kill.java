package dev.belfry.bench.crash;

/**
 * A SIGKILL.
 *
 * @param atNanos just before it was sent
 * @param pid to whom
 */
record Kill(long atNanos, int pid) {
  /** Whether a call was under way at that moment. */
  boolean isWithin(long beganNanos, long endedNanos) {
    return beganNanos - atNanos < 0 && endedNanos - atNanos >= 0;
  }
}
