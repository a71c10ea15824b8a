package dev.belfry.shm;

/** How a wait on one word of shared memory ended. */
public enum WaitResult {
  /** A waker woke us; the condition has to be tested again. */
  WOKEN,
  /** The word already had another value. */
  CHANGED,
  /** The deadline has passed. */
  TIMEOUT
}
