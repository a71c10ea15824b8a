package dev.belfry.shm;

/** The state of a peer entry. */
// r[impl shm.segment.peer-state]
public enum PeerState {
  /** Free for a guest that walks in, or for a reservation. */
  EMPTY(0),
  /** A guest uses it. */
  ATTACHED(1),
  /** The guest has left or failed; the host still has to clean up. */
  GOODBYE(2),
  /** Kept for a guest that was started with a ticket. */
  RESERVED(3);

  private static final PeerState[] ALL = values();

  private final int number;

  PeerState(int number) {
    this.number = number;
  }

  /** The number in an entry. */
  int number() {
    return number;
  }

  /**
   * The state of a number.
   *
   * @throws ProtocolViolation if there is none
   */
  static PeerState of(int number) {
    if (number < 0 || number >= ALL.length) {
      throw new ProtocolViolation(
          ProtocolViolation.Kind.PEER_STATE, "a peer entry has the state " + number);
    }
    return ALL[number];
  }
}
