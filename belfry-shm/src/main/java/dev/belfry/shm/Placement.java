package dev.belfry.shm;

import java.util.Optional;
import java.util.stream.Stream;

/** The layout of a segment, identified by the version in its header. */
public enum Placement {
  /** Format 1, byte for byte, for peers of any implementation. */
  V1(1),

  /**
   * Words written by different processes lie on different cache lines. Descriptors carry a lap
   * mark, so that a receiver touches one cache line per message. Messages of up to about a kilobyte
   * need no slot. Sleepers have flags, so that a peer that is awake costs no system call.
   */
  PADDED(258);

  private final int version;

  Placement(int version) {
    this.version = version;
  }

  /** The version in the header. */
  public int version() {
    return version;
  }

  static Optional<Placement> of(int version) {
    return Stream.of(values()).filter(it -> it.version == version).findAny();
  }
}
