package dev.belfry.shm;

/** What was the first to tell of a guest's end. */
// r[impl shm.death.detection-methods]
public enum Witness {
  /** The kernel has released the robust mutex of its entry: the fastest. Padded placement only. */
  MUTEX,
  /** Its end of the doorbell is closed. */
  DOORBELL,
  /** Its process has ended, as the pidfd, a lost lock or {@link Peer#declareGone} tells. */
  PROCESS,
  /** It has said goodbye itself. */
  GOODBYE,
  /** It has written what a correct guest cannot. */
  VIOLATION,
  /** It has not attached in time. */
  TIME_LIMIT,
  /** The host has given it up. */
  HOST
}
