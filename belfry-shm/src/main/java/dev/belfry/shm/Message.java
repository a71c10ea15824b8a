package dev.belfry.shm;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * A message that was received: a private copy, which the sender can no longer change. It is filled
 * anew by each receive, so that receiving allocates nothing. For one thread at a time.
 */
public final class Message {
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
    return bytes;
  }

  /** A copy of the bytes. */
  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, length);
  }

  /** The bytes as text, as in the reason of a goodbye; what is not UTF-8 is replaced. */
  // r[impl shm.goodbye.payload]
  public String text() {
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  void set(MessageKind kind, int id, long methodId, int length) {
    this.kind = kind.number();
    this.id = id;
    this.methodId = methodId;
    this.length = length;
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
