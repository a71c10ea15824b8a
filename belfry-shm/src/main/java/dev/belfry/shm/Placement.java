package dev.belfry.shm;

import java.util.Optional;
import java.util.stream.Stream;

/** How a segment is laid out; its number is the version in the segment's header. */
public enum Placement {
  /** Format 1, byte for byte, for peers of any make. */
  V1(1),

  /**
   * What different processes write lies on different cache lines; descriptors carry a mark of their
   * lap, so that a receiver looks at one line for each message; messages of up to about a kilobyte
   * need no slot; and sleepers have flags, so that nobody makes a system call for a peer that is
   * awake.
   */
  PADDED(258);

  private final int version;

  Placement(int version) {
    this.version = version;
  }

  /** The version that stands in the header. */
  public int version() {
    return version;
  }

  static Optional<Placement> of(int version) {
    return Stream.of(values()).filter(it -> it.version == version).findAny();
  }
}
