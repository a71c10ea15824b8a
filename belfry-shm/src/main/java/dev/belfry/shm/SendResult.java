package dev.belfry.shm;

/** What became of a message; unless it was sent, nothing was written. */
public enum SendResult {
  /** It is under way. */
  SENT,
  /** The ring is full: try again when the peer has read. */
  RING_FULL,
  /** All slots are in use, or this peer holds all it may: try again when the peer has read. */
  NO_SLOT,
  /** The receiver of the channel has not granted enough: try again when it has. */
  NO_CREDIT,
  /** It is longer than the segment allows: never try again. */
  TOO_LARGE,
  /** The time for waiting is over, and what kept it from being sent still does. */
  TIMEOUT,
  /** The guest has not attached yet: try again when it has. */
  NOT_ATTACHED,
  /** The peer has left, is gone, or this side was closed: the link is over. */
  OVER
}
