package dev.belfry.shm;

/**
 * The peer has written something into shared memory that a correct peer cannot have written. This
 * ends the link to that peer and no other.
 */
public final class ProtocolViolation extends ShmException {
  private static final long serialVersionUID = 1;

  /** What is wrong. */
  public enum Kind {
    /** A head or tail that is further ahead than its ring is long. */
    COUNTER,
    /** A message kind that does not exist. */
    MESSAGE_KIND,
    /** A generation or an offset in a descriptor with an inline payload. */
    INLINE_FIELDS,
    /** A payload that is too long. */
    PAYLOAD_LENGTH,
    /** A slot that does not exist. */
    SLOT_INDEX,
    /** A payload that extends beyond its slot. */
    SLOT_BOUNDS,
    /** A slot whose generation differs from that in the descriptor. */
    SLOT_GENERATION,
    /** A slot that is free. */
    SLOT_NOT_ALLOCATED,
    /** A slot that was received before and has not been allocated since. */
    SLOT_REPLAYED,
    /** A channel that does not exist, is in the wrong state, or belongs to the other side. */
    CHANNEL,
    /** Credit that was withdrawn or is out of bounds. */
    CREDIT,
    /** A peer state that does not exist. */
    PEER_STATE
  }

  private final Kind kind;

  ProtocolViolation(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  /** What is wrong. */
  public Kind kind() {
    return kind;
  }
}
