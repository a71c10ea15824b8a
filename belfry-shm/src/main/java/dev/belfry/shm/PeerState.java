package dev.belfry.shm;

/** The state of a peer entry. */
// r[impl shm.segment.peer-state]
public enum PeerState {
  /** Free to be reserved, or taken by a guest that walks in. */
  EMPTY(0),
  /** In use by a guest. */
  ATTACHED(1),
  /** The guest has left or failed; the host still has to clean up. */
  GOODBYE(2),
  /** Reserved for a guest that is started with a ticket. */
  RESERVED(3);

  private static final PeerState[] ALL = values();

  private final int number;

  PeerState(int number) {
    this.number = number;
  }

  /** The number that stands in the entry. */
  int number() {
    return number;
  }

  /**
   * The state with a number.
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
