package dev.belfry.shm;

import dev.belfry.shm.ProtocolViolation.Kind;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message that was received. It is filled anew by each receive, so that receiving allocates
 * nothing. For one thread at a time.
 *
 * <p>The bytes are a private copy, which the sender can no longer change. Those of a message that
 * is handed to a handler are copied only when the handler asks for them: by {@link #copyTo} and
 * {@link #toByteArray} straight to where they are wanted. Asked twice in this way they may differ,
 * if the sender is up to no good. After the handler has returned they are gone.
 */
public final class Message {
  /** The place of bytes that were copied. */
  private static final long COPIED = 0;

  /** The place of bytes that nobody has copied in time. */
  private static final long GONE = -1;

  /** Always room for what a descriptor holds, so that whole words can be copied. */
  private byte[] bytes = new byte[MessageDescriptor.MAX_INLINE_BYTES];

  /**
   * The number of the kind. Not the kind itself: to store a reference in an object that has lived
   * for long, as this one does, takes a fence for the garbage collector.
   */
  private int kind = MessageKind.REQUEST.number();

  private int id;
  private long methodId;
  private int length;

  /** The address of the bytes in shared memory, or {@link #COPIED} or {@link #GONE}. */
  private long place;

  /** What the address belongs to; like the kind, it is stored only if it is another. */
  private @Nullable Memory memory;

  /** The address of the generation of their slot, and its value; 0 if they are not in a slot. */
  private long slot;

  private int generation;

  /** What the channel table said about its channel before the peer could know that it was read. */
  private int channelState;

  /** An empty message to be filled. */
  public Message() {}

  /** What kind of message it is. */
  public MessageKind kind() {
    return Objects.requireNonNull(MessageKind.of(kind));
  }

  /** The request id or the channel id, 0 to 2^32 - 1. */
  public long id() {
    return Integer.toUnsignedLong(id);
  }

  /** The method of a request. */
  public long methodId() {
    return methodId;
  }

  /** The number of bytes. */
  public int length() {
    return length;
  }

  /** The bytes from 0 to {@link #length}; valid until the next receive, which may replace it. */
  public byte[] bytes() {
    if (place != COPIED) {
      byte[] room = room(length);
      copyTo(0, room, 0, length);
      place = COPIED;
    }
    return bytes;
  }

  /** A copy of the bytes. */
  public byte[] toByteArray() {
    return toByteArray(0);
  }

  /** A copy of the bytes from an index on. */
  public byte[] toByteArray(int from) {
    byte[] copy = new byte[length - Objects.checkFromToIndex(from, length, length)];
    copyTo(from, copy, 0, copy.length);
    return copy;
  }

  /** Copies some of the bytes. */
  public void copyTo(int from, byte[] to, int offset, int count) {
    Objects.checkFromIndexSize(from, count, length);
    Objects.checkFromIndexSize(offset, count, to.length);
    if (place == COPIED) {
      System.arraycopy(bytes, from, to, offset, count);
    } else if (place == GONE) {
      throw new IllegalStateException("the handler has returned, so the bytes are gone: " + this);
    } else {
      copyFromSender(from, to, offset, count);
    }
  }

  // r[impl shm.slot.generation]
  private void copyFromSender(int from, byte[] to, int offset, int count) {
    Memory shared = Objects.requireNonNull(memory);
    try {
      shared.read(place + from, to, offset, count);
      if (slot != 0 && shared.getIntAcquire(slot) != generation) {
        throw new ProtocolViolation(
            Kind.SLOT_GENERATION, "a slot was changed while it was read, by " + this);
      }
    } finally {
      Reference.reachabilityFence(shared);
    }
  }

  /** The bytes as text, as in the reason of a goodbye; what is not UTF-8 is replaced. */
  // r[impl shm.goodbye.payload]
  public String text() {
    return new String(bytes(), 0, length, StandardCharsets.UTF_8);
  }

  /** Everything but the bytes, for which there is {@link #room} or {@link #lend}. */
  void set(MessageKind kind, int id, long methodId, int length) {
    this.kind = kind.number();
    this.id = id;
    this.methodId = methodId;
    this.length = length;
    this.place = COPIED;
  }

  /** The bytes stay at an address until {@link #giveBack}. */
  void lend(Memory shared, long address) {
    lend(shared, address, 0, 0);
  }

  /** The bytes stay at an address in a slot until {@link #giveBack}. */
  void lend(Memory shared, long address, long slotAddress, int slotGeneration) {
    if (memory != shared) {
      memory = shared;
    }
    place = address;
    slot = slotAddress;
    generation = slotGeneration;
  }

  /** From now on the sender may use the place of the bytes for others. */
  void giveBack() {
    if (place != COPIED) {
      place = GONE;
    }
  }

  int channelState() {
    return channelState;
  }

  void setChannelState(int state) {
    channelState = state;
  }

  /** Room for so many bytes; what was there is lost. */
  byte[] room(int length) {
    if (bytes.length < length) {
      bytes = new byte[length];
    }
    return bytes;
  }

  @Override
  public String toString() {
    return "%s %d with %d bytes".formatted(kind(), id(), length);
  }
}
