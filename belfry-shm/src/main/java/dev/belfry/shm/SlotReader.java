package dev.belfry.shm;

import dev.belfry.shm.ProtocolViolation.Kind;
import java.util.Arrays;

/**
 * Reads payloads from the slots of a peer and gives the slots back. Neither descriptor nor pool is
 * trusted: a value that a correct peer cannot have written is a violation. One thread at a time.
 */
final class SlotReader {
  private static final long NEVER = -1;

  private final Memory memory;
  private final long bitmap;
  private final long slots;
  private final long stride;
  private final int count;
  private final int payloadRoom;
  private final int maxPayload;

  /** The generation last accepted for each slot: the same one again is a replayed message. */
  private final long[] accepted;

  /** Whether the owner also sends to other receivers, which would miss slots kept here. */
  private final boolean sharedPool;

  /** How many slots may be kept: the owner hardly notices as long as others are left. */
  private final int mostRead;

  /** Slots that were read and not given back yet, all from one word of the bitmap. */
  private long read;

  private int readWord;

  SlotReader(Segment segment, int owner) {
    SegmentLayout layout = segment.layout();
    this.memory = segment.memory();
    this.bitmap = memory.address(layout.pool(owner), layout.poolBytes());
    this.slots = memory.address(layout.slot(owner, 0), 0);
    this.stride = layout.slotStride();
    this.count = layout.config().slotsPerGuest();
    this.payloadRoom = layout.config().slotSize() - SegmentConfig.GENERATION_BYTES;
    this.maxPayload = layout.config().maxPayloadSize();
    this.accepted = new long[count];
    this.sharedPool = owner == 0;
    this.mostRead = count / 2;
    Arrays.fill(accepted, NEVER);
  }

  /**
   * Lends a payload to a message. Its slot is given back by {@link #giveBack}, or earlier if many
   * slots are kept.
   *
   * @param slot from the descriptor, like the other numbers
   */
  // r[impl shm.trust.descriptors]
  // r[impl shm.trust.slots]
  void lend(int slot, int generation, int offset, int length, Message into) {
    if (Integer.compareUnsigned(length, maxPayload) > 0) {
      throw violation(Kind.PAYLOAD_LENGTH, "a payload of %d bytes", length);
    }
    if (Integer.compareUnsigned(slot, count) >= 0) {
      throw violation(Kind.SLOT_INDEX, "slot %d", slot);
    }
    if (Integer.toUnsignedLong(offset) + length > payloadRoom) {
      throw violation(Kind.SLOT_BOUNDS, "a payload that starts at %d of its slot", offset);
    }
    long address = slots + slot * stride;
    // r[impl shm.slot.generation]
    if (memory.getInt(address) != generation) {
      throw violation(Kind.SLOT_GENERATION, "generation %d, not that of its slot", generation);
    }
    if (accepted[slot] == Integer.toUnsignedLong(generation)) {
      throw violation(Kind.SLOT_REPLAYED, "slot %d a second time", slot);
    }
    accepted[slot] = Integer.toUnsignedLong(generation);
    keep(slot);
    into.lend(memory, address + SegmentConfig.GENERATION_BYTES + offset, address, generation);
  }

  /** Keeps a slot that was read; first gives back the earlier ones if there are enough. */
  private void keep(int slot) {
    int word = slot >>> 6;
    if (word != readWord || areEnough()) {
      giveBack();
      readWord = word;
    }
    read |= 1L << slot;
  }

  private boolean areEnough() {
    return Long.bitCount(read) >= mostRead;
  }

  /** Whether slots are kept here that only their owner could miss, and not soon. */
  boolean mayKeepSome() {
    return read != 0 && !sharedPool && !areEnough();
  }

  /**
   * Gives back the slots that were read. Each update takes the bitmap's cache line from the owner's
   * processor, so slots that were read together are given back together.
   */
  // r[impl shm.slot.free]
  void giveBack() {
    long bits = read;
    if (bits != 0) {
      read = 0;
      long before = memory.getAndOrLongRelease(bitmap + 8L * readWord, bits);
      if ((before & bits) != 0) {
        int slot = 64 * readWord + Long.numberOfTrailingZeros(before & bits);
        throw violation(Kind.SLOT_NOT_ALLOCATED, "slot %d, which is free", slot);
      }
    }
  }

  private static ProtocolViolation violation(Kind kind, String what, int value) {
    return new ProtocolViolation(
        kind, "a descriptor names " + what.formatted(Integer.toUnsignedLong(value)));
  }
}
