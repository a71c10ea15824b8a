package dev.belfry.shm;

/** What a thread does while it waits for its peer. */
public enum WaitStrategy {
  /**
   * Never gives up the processor: the shortest way, at the price of a core. The peer is told and
   * never makes a system call for it.
   */
  SPIN,
  /** Lets other threads run between looks, but does not sleep. */
  YIELD,
  /**
   * Spins for a time that follows how long recent waits took, at most 200 microseconds, then
   * sleeps. The default.
   */
  ADAPTIVE,
  /** Sleeps at once. */
  SLEEP
}
