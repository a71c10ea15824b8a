package dev.belfry.shm;

/** The segment's file was truncated under its mapping. The link is over; the JVM goes on. */
public final class SegmentLost extends ShmException {
  private static final long serialVersionUID = 1;

  SegmentLost(String what, Throwable cause) {
    super(what + " was cut while in use; both sides have to start anew on a new segment");
    initCause(cause);
  }

  SegmentLost(String what) {
    super(what + " was cut while in use; both sides have to start anew on a new segment");
  }
}
