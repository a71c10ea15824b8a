package dev.belfry.workers;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The encoding of calls and answers, as in docs/protocol.md. */
final class Protocol {
  /** The longest payload, in either direction. */
  static final int MAX_BYTES = 64 << 20;

  /** The id of a worker's first message, which says that it is up; no call has this id. */
  static final long HELLO = 0;

  /** The number of the method that is called to warm up a worker before it counts as ready. */
  static final long REHEARSAL = 0;

  /** The length of the header of a call whose payload is in the same message. */
  static final int REQUEST_HEADER_BYTES = 4;

  /** The most bytes that {@link #parseRequest} reads. */
  static final int LONGEST_REQUEST_HEADER_BYTES = REQUEST_HEADER_BYTES + Integer.BYTES + Long.BYTES;

  /** A flag in the method field of an answer: the payload comes in chunks. */
  static final long ANSWER_IN_CHUNKS = 0x100;

  private static final int VERSION = 1;
  private static final int REQUEST_IN_CHUNKS = 1 << 31;
  private static final int LONGEST_NAME = 255;
  private static final long STATUS_MASK = 0xff;

  private Protocol() {}

  /**
   * Where the payload of a call or an answer is.
   *
   * @param channel the channel on which it comes in chunks; 0 if it is in the same message
   * @param length its length in bytes
   * @param timeLeftMillis how long the caller waits for an answer; 0 for ever
   */
  record Header(long channel, long length, int timeLeftMillis) {
    boolean isInChunks() {
      return channel != 0;
    }
  }

  /** The number by which a method is called. */
  static long methodId(String name) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
      return littleEndian(digest).getLong(0);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JVM has SHA-256", e);
    }
  }

  /** A call with its payload. */
  static byte[] request(byte[] payload, int timeLeftMillis) {
    byte[] bytes = new byte[REQUEST_HEADER_BYTES + payload.length];
    littleEndian(bytes).putInt(0, timeLeftMillis);
    System.arraycopy(payload, 0, bytes, REQUEST_HEADER_BYTES, payload.length);
    return bytes;
  }

  /** The header of a call, to be followed by its payload. */
  static byte[] requestHeader(int timeLeftMillis) {
    return littleEndian(new byte[REQUEST_HEADER_BYTES]).putInt(timeLeftMillis).array();
  }

  /** A call whose payload comes on a channel. */
  static byte[] request(int channel, long length, int timeLeftMillis) {
    return littleEndian(new byte[LONGEST_REQUEST_HEADER_BYTES])
        .putInt(timeLeftMillis | REQUEST_IN_CHUNKS)
        .putInt(channel)
        .putLong(length)
        .array();
  }

  /**
   * Parses the header of a call. A payload that is not in chunks follows the first four bytes.
   *
   * @param bytes the start of the message, at least as far as it is read
   * @param length the length of the whole message
   */
  static Header parseRequest(byte[] bytes, int length) {
    if (length < REQUEST_HEADER_BYTES) {
      throw new MalformedMessage("a call of %d bytes".formatted(length));
    }
    int first = littleEndian(bytes).getInt(0);
    int timeLeft = first & ~REQUEST_IN_CHUNKS;
    return (first & REQUEST_IN_CHUNKS) == 0
        ? new Header(0, length - REQUEST_HEADER_BYTES, timeLeft)
        : chunks(bytes, REQUEST_HEADER_BYTES, length, timeLeft);
  }

  /** An answer whose payload comes on a channel. */
  static byte[] answer(int channel, long length) {
    return littleEndian(new byte[Integer.BYTES + Long.BYTES])
        .putInt(channel)
        .putLong(length)
        .array();
  }

  /** Parses an answer that has {@link #ANSWER_IN_CHUNKS} in its method field. */
  static Header parseAnswerInChunks(byte[] bytes, int length) {
    return chunks(bytes, 0, length, 0);
  }

  private static Header chunks(byte[] bytes, int offset, int length, int timeLeft) {
    if (length != offset + Integer.BYTES + Long.BYTES) {
      throw new MalformedMessage("chunks announced in %d bytes".formatted(length));
    }
    ByteBuffer buffer = littleEndian(bytes);
    long channel = Integer.toUnsignedLong(buffer.getInt(offset));
    long size = buffer.getLong(offset + Integer.BYTES);
    if (channel == 0 || size < 0 || size > MAX_BYTES) {
      throw new MalformedMessage("%d bytes on channel %d".formatted(size, channel));
    }
    return new Header(channel, size, timeLeft);
  }

  /** The status in the method field of an answer. */
  static Status status(long methodField) {
    return Status.of((int) (methodField & STATUS_MASK));
  }

  /** A worker's first message: the methods it has. */
  static byte[] hello(Collection<String> methods) {
    List<byte[]> names = methods.stream().map(it -> it.getBytes(StandardCharsets.UTF_8)).toList();
    byte[] bytes = new byte[1 + names.stream().mapToInt(name -> 1 + name.length).sum()];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).put((byte) VERSION);
    names.forEach(name -> buffer.put((byte) name.length).put(name));
    return bytes;
  }

  /** Parses a worker's first message. */
  static List<String> parseHello(byte[] bytes, int length) {
    if (length == 0 || bytes[0] != VERSION) {
      throw new MalformedMessage("not the first message of a worker of version " + VERSION);
    }
    var names = new ArrayList<String>();
    int at = 1;
    while (at < length) {
      int size = bytes[at++] & 0xff;
      if (size == 0 || size > length - at) {
        throw new MalformedMessage("a method's name of %d bytes at %d".formatted(size, at));
      }
      names.add(new String(bytes, at, size, StandardCharsets.UTF_8));
      at += size;
    }
    return List.copyOf(names);
  }

  /** Returns a method's name, if it is valid. */
  static String checkName(String name) {
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    if (length == 0 || length > LONGEST_NAME) {
      throw new IllegalArgumentException(
          "a method's name has 1 to %d bytes, not %d".formatted(LONGEST_NAME, length));
    }
    return name;
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
