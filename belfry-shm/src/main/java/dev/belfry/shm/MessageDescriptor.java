package dev.belfry.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The descriptor of a message in a ring: 64 bytes (128 in the padded placement), accessed as words:
 *
 * <pre>
 *   0  msg_type (8 bits) | flags (8) | lap mark (16; 0 in format 1) | id (32)
 *   1  method_id
 *   2  payload_slot (32), all ones = inline | payload_generation (32)
 *   3  payload_offset (32) | payload_len (32)
 *   4  inline payload; bytes after payload_len are zero in the first 32 bytes
 * </pre>
 *
 * A pocket is space beside the ring that belongs to the message's counter. It holds the payload of
 * a message that is marked as inline but too long for its descriptor.
 *
 * <p>The first word is written last, with release order: its lap mark tells the receiver that the
 * rest is there.
 */
// r[impl shm.desc.size]
final class MessageDescriptor {
  /** The size of the fields, which precede an inline payload. */
  static final int FIELD_BYTES = 32;

  /** The inline payload that every descriptor has room for, on its first cache line. */
  static final int INLINE_BYTES = 32;

  /** The inline payload that the largest descriptor has room for. */
  static final int MAX_INLINE_BYTES = 96;

  static final int INLINE_SLOT = -1;

  /** Payloads are copied in blocks of four words, for which the compiler needs no loop. */
  private static final int BLOCK_BYTES = 32;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long METHOD_ID = 8;
  private static final long SLOT = 16;
  private static final long OFFSET = 24;
  private static final long INLINE = FIELD_BYTES;

  private MessageDescriptor() {}

  // The first word.

  // r[impl shm.desc.flags]
  static long firstWord(MessageKind kind, int lapMark, int id) {
    return kind.number() | ((long) lapMark << 16) | ((long) id << 32);
  }

  static int kindNumber(long firstWord) {
    return (int) firstWord & 0xff;
  }

  static int lapMark(long firstWord) {
    return (int) firstWord >>> 16;
  }

  static int id(long firstWord) {
    return (int) (firstWord >>> 32);
  }

  // The other words.

  static long methodId(Memory memory, long descriptor) {
    return memory.getLong(descriptor + METHOD_ID);
  }

  /** Slot in the lower half, generation in the upper. */
  static long slotAndGeneration(Memory memory, long descriptor) {
    return memory.getLong(descriptor + SLOT);
  }

  /** Offset in the lower half, length in the upper. */
  static long offsetAndLength(Memory memory, long descriptor) {
    return memory.getLong(descriptor + OFFSET);
  }

  /** Writes all but the first word, for an inline payload. */
  // r[impl shm.desc.inline-fields]
  // r[impl shm.payload.inline]
  static void writeInline(
      Memory memory, long descriptor, long methodId, byte[] bytes, int offset, int length) {
    // The second cache line first: if it were written in between, the receiver, which polls the
    // first line, would take that away, and we would have to fetch it twice.
    for (int at = MAX_INLINE_BYTES - BLOCK_BYTES; at > 0; at -= BLOCK_BYTES) {
      if (length > at) {
        writeBlock(memory, descriptor + INLINE + at, bytes, offset + at, length - at);
      }
    }
    memory.setLong(descriptor + METHOD_ID, methodId);
    memory.setLong(descriptor + SLOT, Integer.toUnsignedLong(INLINE_SLOT));
    memory.setLong(descriptor + OFFSET, (long) length << 32);
    writeBlock(memory, descriptor + INLINE, bytes, offset, length);
  }

  /** Writes four words; missing bytes become zeros. */
  private static void writeBlock(Memory memory, long to, byte[] bytes, int offset, int rest) {
    if (rest >= BLOCK_BYTES) {
      for (int at = 0; at < BLOCK_BYTES; at += Long.BYTES) {
        memory.setLong(to + at, (long) LONGS.get(bytes, offset + at));
      }
    } else {
      for (int at = 0; at < BLOCK_BYTES; at += Long.BYTES) {
        memory.setLong(to + at, word(bytes, offset + at, rest - at));
      }
    }
  }

  /** The next eight bytes; missing bytes become zeros. */
  private static long word(byte[] bytes, int offset, int rest) {
    if (rest >= Long.BYTES) {
      return (long) LONGS.get(bytes, offset);
    }
    long word = 0;
    for (int i = 0; i < rest; i++) {
      word |= (bytes[offset + i] & 0xffL) << (8 * i);
    }
    return word;
  }

  /** Writes all but the first word, for a payload in a slot or in the pocket. */
  static void writeFields(
      Memory memory, long descriptor, long methodId, int slot, int generation, int length) {
    memory.setLong(descriptor + METHOD_ID, methodId);
    memory.setLong(descriptor + SLOT, Integer.toUnsignedLong(slot) | ((long) generation << 32));
    memory.setLong(descriptor + OFFSET, (long) length << 32);
    for (int at = 0; at < INLINE_BYTES; at += Long.BYTES) {
      memory.setLong(descriptor + INLINE + at, 0);
    }
  }

  /**
   * Copies an inline payload in whole blocks.
   *
   * @param to has room for {@link #MAX_INLINE_BYTES}
   */
  static void readInline(Memory memory, long descriptor, byte[] to, int length) {
    for (int at = 0; at < MAX_INLINE_BYTES; at += BLOCK_BYTES) {
      if (length > at) {
        readBlock(memory, descriptor + INLINE + at, to, at);
      }
    }
  }

  private static void readBlock(Memory memory, long from, byte[] to, int offset) {
    for (int at = 0; at < BLOCK_BYTES; at += Long.BYTES) {
      LONGS.set(to, offset + at, memory.getLong(from + at));
    }
  }
}
