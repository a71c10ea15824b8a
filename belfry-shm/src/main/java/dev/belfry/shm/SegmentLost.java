package dev.belfry.shm;

/** The segment's file was cut or its memory taken away. The link is over, the JVM is not. */
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
