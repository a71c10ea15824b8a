package dev.belfry.shm;

import java.io.IOException;

/** A segment cannot be made or used. The message says which one, why, and what to do about it. */
public final class SegmentException extends IOException {
  private static final long serialVersionUID = 1;

  /** Why. */
  public enum Reason {
    /** The machine has another byte order or word size. */
    UNSUPPORTED_PLATFORM,
    /** It is not a file that can be a segment, or is too short for one. */
    NOT_A_SEGMENT,
    /** It does not begin with the magic bytes. */
    INVALID_MAGIC,
    /** Its version or its features are not known here. */
    UNSUPPORTED_VERSION,
    /** The values in its header are not valid. */
    INVALID_CONFIG,
    /** Its header contradicts itself or the length of the file. */
    INCONSISTENT,
    /** Its host has left. */
    HOST_GOODBYE,
    /** Its host is gone and has not said goodbye. */
    HOST_GONE,
    /** A living host has it. */
    IN_USE,
    /** All entries for guests are taken. */
    NO_FREE_PEER_ENTRY,
    /** The entry of a ticket is not reserved. */
    NOT_RESERVED
  }

  private final Reason reason;

  SegmentException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /** Why. */
  public Reason reason() {
    return reason;
  }
}
