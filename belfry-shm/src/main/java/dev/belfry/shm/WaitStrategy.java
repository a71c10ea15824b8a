package dev.belfry.shm;

/** How a thread waits for its peer. */
public enum WaitStrategy {
  /**
   * Never gives up the processor: the lowest latency, at the price of a core. The peer is told, and
   * never makes a system call to wake this side.
   */
  SPIN,
  /** Yields to other threads between polls, but does not sleep. */
  YIELD,
  /**
   * Spins for a time adapted to recent waits, at most 200 microseconds, then sleeps. The default.
   */
  ADAPTIVE,
  /** Sleeps at once. */
  SLEEP
}
