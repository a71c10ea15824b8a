package dev.belfry.shm;

import java.io.IOException;

/** A guest was started without a valid ticket. The message says what to do about it. */
public final class TicketException extends IOException {
  private static final long serialVersionUID = 1;

  /** What is wrong. */
  public enum Reason {
    /** There is no {@code --hub-path=}, or it is empty. */
    MISSING_HUB_PATH,
    /** There is no {@code --peer-id=}. */
    MISSING_PEER_ID,
    /** The peer id is not a number from 1 to 255, or is larger than the segment allows. */
    INVALID_PEER_ID,
    /** There is no {@code --doorbell-fd=}. */
    MISSING_DOORBELL,
    /** The descriptor is not a number, not open, or not a socket. */
    INVALID_DOORBELL
  }

  private final Reason reason;

  TicketException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /** What is wrong. */
  public Reason reason() {
    return reason;
  }
}
