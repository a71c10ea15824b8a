package dev.belfry.shm;

/** How a wait on one word of shared memory ended. */
public enum WaitResult {
  /** Somebody woke us; what was waited for has to be looked at. */
  WOKEN,
  /** The word had another value already. */
  CHANGED,
  /** The deadline has come. */
  TIMEOUT
}
