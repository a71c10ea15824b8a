package dev.belfry.shm;

/** The result of sending a message. Unless it is {@link #SENT}, nothing was written. */
public enum SendResult {
  /** The message is in flight. */
  SENT,
  /** The ring is full: try again when the peer has read. */
  RING_FULL,
  /** All slots are in use, or this peer holds its full share: try again when the peer has read. */
  NO_SLOT,
  /** The receiver of the channel has not granted enough credit: try again when it has. */
  NO_CREDIT,
  /** The message is longer than the segment allows: do not try again. */
  TOO_LARGE,
  /** The deadline has passed, and the message still could not be sent. */
  TIMEOUT,
  /** The guest has not attached yet: try again when it has. */
  NOT_ATTACHED,
  /** The peer has left or died, or this side was closed: the link is over. */
  OVER
}
