package dev.belfry.shm;

import java.io.IOException;

/**
 * A segment cannot be created or used. The message says which one, why, and what to do about it.
 */
public final class SegmentException extends IOException {
  private static final long serialVersionUID = 1;

  /** The reasons. */
  public enum Reason {
    /** The machine has another byte order or word size. */
    UNSUPPORTED_PLATFORM,
    /** The file cannot be a segment, or is too short for one. */
    NOT_A_SEGMENT,
    /** The file does not begin with the magic bytes. */
    INVALID_MAGIC,
    /** The version or the features of the segment are unknown. */
    UNSUPPORTED_VERSION,
    /** The header holds an invalid configuration. */
    INVALID_CONFIG,
    /** The header contradicts itself or the length of the file. */
    INCONSISTENT,
    /** The host has left. */
    HOST_GOODBYE,
    /** The host has died without a goodbye. */
    HOST_GONE,
    /** The segment belongs to a host that is alive. */
    IN_USE,
    /** All peer entries are taken. */
    NO_FREE_PEER_ENTRY,
    /** The entry of the ticket is not reserved. */
    NOT_RESERVED
  }

  private final Reason reason;

  SegmentException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /** The reason. */
  public Reason reason() {
    return reason;
  }
}
