package dev.belfry.shm;

import dev.belfry.shm.ProtocolViolation.Kind;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A received message. Each receive refills it, so that receiving allocates nothing. One thread at a
 * time.
 *
 * <p>The bytes are a private copy, which the sender can no longer change. The bytes of a message
 * passed to a handler are copied only on demand: {@link #copyTo} and {@link #toByteArray} copy them
 * straight to their destination. A malicious sender may change them between two such calls. Once
 * the handler has returned, bytes that were not copied are gone.
 */
public final class Message {
  /** The value of {@link #place} for bytes that were copied. */
  private static final long COPIED = 0;

  /** The value of {@link #place} for bytes that were not copied in time. */
  private static final long GONE = -1;

  /** Always large enough for an inline payload, so that whole words can be copied. */
  private byte[] bytes = new byte[MessageDescriptor.MAX_INLINE_BYTES];

  /**
   * The number of the kind, not the kind itself: storing a reference into an old object such as
   * this one costs a garbage collector barrier.
   */
  private int kind = MessageKind.REQUEST.number();

  private int id;
  private long methodId;
  private int length;

  /** The address of the bytes in shared memory, or {@link #COPIED} or {@link #GONE}. */
  private long place;

  /** The memory that the address belongs to; for the same reason written only if it changes. */
  private @Nullable Memory memory;

  /** The address of the generation of the slot and its value; 0 if the bytes are not in a slot. */
  private long slot;

  private int generation;

  /**
   * The state of the message's channel, read before the peer could know that the message was read.
   */
  private int channelState;

  /** Creates an empty message, to be filled by a receive. */
  public Message() {}

  /** The kind of this message. */
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

  /**
   * The bytes from 0 to {@link #length}. Valid until the next receive, which may replace the array.
   */
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

  /** Copies {@code count} bytes, starting at {@code from}. */
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
      VarHandle.acquireFence(); // the generation is read after the bytes
      if (slot != 0 && shared.getIntAcquire(slot) != generation) {
        throw new ProtocolViolation(
            Kind.SLOT_GENERATION, "a slot was changed while it was read, by " + this);
      }
    } finally {
      Reference.reachabilityFence(shared);
    }
  }

  /** The bytes as UTF-8 text, such as the reason of a goodbye; malformed input is replaced. */
  // r[impl shm.goodbye.payload]
  public String text() {
    return new String(bytes(), 0, length, StandardCharsets.UTF_8);
  }

  /** Sets everything but the bytes; {@link #room} or {@link #lend} set those. */
  void set(MessageKind kind, int id, long methodId, int length) {
    this.kind = kind.number();
    this.id = id;
    this.methodId = methodId;
    this.length = length;
    this.place = COPIED;
  }

  /** Refers to bytes that stay at an address until {@link #giveBack}. */
  void lend(Memory shared, long address) {
    lend(shared, address, 0, 0);
  }

  /** Refers to bytes that stay at an address in a slot until {@link #giveBack}. */
  void lend(Memory shared, long address, long slotAddress, int slotGeneration) {
    if (memory != shared) {
      memory = shared;
    }
    place = address;
    slot = slotAddress;
    generation = slotGeneration;
  }

  /** Called when the sender may reuse the place of the bytes. */
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

  /** An array for {@code length} bytes; discards the current bytes. */
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
