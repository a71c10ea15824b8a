package dev.belfry.shm;

/** A link between host and guest has failed. */
public abstract sealed class ShmException extends RuntimeException
    permits ProtocolViolation, SegmentLost {
  private static final long serialVersionUID = 1;

  ShmException(String message) {
    super(message);
  }
}
