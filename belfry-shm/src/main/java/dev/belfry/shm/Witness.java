package dev.belfry.shm;

/** What first reported a guest's end. */
// r[impl shm.death.detection-methods]
public enum Witness {
  /**
   * The kernel has released the robust mutex of its entry: the fastest witness. Padded placement
   * only.
   */
  MUTEX,
  /** The guest's end of the doorbell is closed. */
  DOORBELL,
  /**
   * Its process has ended, as reported by the pidfd, by a lost lock or by {@link Peer#declareGone}.
   */
  PROCESS,
  /** The guest said goodbye. */
  GOODBYE,
  /** The guest violated the protocol. */
  VIOLATION,
  /** The guest did not attach in time. */
  TIME_LIMIT,
  /** The host disconnected the guest. */
  HOST
}
