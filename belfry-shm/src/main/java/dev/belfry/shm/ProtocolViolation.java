package dev.belfry.shm;

/**
 * The peer has written something into shared memory that a correct peer cannot have written. It
 * costs that peer its link; others do not notice.
 */
public final class ProtocolViolation extends ShmException {
  private static final long serialVersionUID = 1;

  /** What is wrong. */
  public enum Kind {
    /** A head or tail that is further ahead than its ring is long. */
    COUNTER,
    /** A message kind that does not exist. */
    MESSAGE_KIND,
    /** Generation or offset in a descriptor with inline payload. */
    INLINE_FIELDS,
    /** A payload that is longer than allowed. */
    PAYLOAD_LENGTH,
    /** A slot that does not exist. */
    SLOT_INDEX,
    /** A payload that reaches beyond its slot. */
    SLOT_BOUNDS,
    /** A slot whose generation is not that of the descriptor. */
    SLOT_GENERATION,
    /** A slot that is free. */
    SLOT_NOT_ALLOCATED,
    /** A slot that was received before and not allocated since. */
    SLOT_REPLAYED,
    /** A channel that does not exist, is in a wrong state or of the wrong side. */
    CHANNEL,
    /** Credit that was taken back or exceeds all bounds. */
    CREDIT,
    /** A peer's state that does not exist. */
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
