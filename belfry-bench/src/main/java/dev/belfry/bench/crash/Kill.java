package dev.belfry.bench.crash;

/**
 * A SIGKILL.
 *
 * @param atNanos when, just before it was sent
 * @param pid the process killed
 */
record Kill(long atNanos, int pid) {
  /** Whether a call was in flight at that moment. */
  boolean isWithin(long beganNanos, long endedNanos) {
    return beganNanos - atNanos < 0 && endedNanos - atNanos >= 0;
  }
}
