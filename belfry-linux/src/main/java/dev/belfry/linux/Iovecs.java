package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Several pieces of memory for one call ({@code iovec(3type)}), an array of:
 *
 * <pre>{@code
 * struct iovec { void *iov_base; size_t iov_len; };   // 8 + 8 bytes on 64-bit machines
 * }</pre>
 *
 * The kernel only sees addresses, so the pieces are kept here to keep their memory alive.
 */
public final class Iovecs {
  /** The most pieces the kernel accepts at once ({@code IOV_MAX}). */
  public static final int MAX = 1024;

  private static final long IOVEC_BYTES = 16;
  private static final long BASE = 0;
  private static final long LENGTH = 8;

  private final MemorySegment array;
  private final MemorySegment[] pieces;
  private int count;

  /** Allocates room for a number of pieces, at most {@value #MAX}. */
  public Iovecs(Arena arena, int capacity) {
    if (capacity < 1 || capacity > MAX) {
      throw new IllegalArgumentException("1 to 1024 pieces, not " + capacity);
    }
    array = arena.allocate(IOVEC_BYTES * capacity, Long.BYTES);
    pieces = new MemorySegment[capacity];
  }

  /** Removes all pieces. */
  public void clear() {
    count = 0;
  }

  /** Appends a piece of native memory. */
  public void add(MemorySegment piece) {
    if (!piece.isNative()) {
      throw new IllegalArgumentException("the kernel needs native memory, not an array's");
    }
    pieces[count] = piece;
    array.set(JAVA_LONG, count * IOVEC_BYTES + BASE, piece.address());
    array.set(JAVA_LONG, count * IOVEC_BYTES + LENGTH, piece.byteSize());
    count++;
  }

  /** How many pieces there are. */
  public int count() {
    return count;
  }

  /** Whether the pieces have room for at least one byte. */
  public boolean hasRoom() {
    for (int i = 0; i < count; i++) {
      if (pieces[i].byteSize() > 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Copies into the pieces, one after the other, as a receiving call does.
   *
   * @param skipped how many bytes of the pieces are filled already
   * @return how many bytes fitted
   * @throws IllegalStateException if a piece was freed; nothing is copied then
   */
  public int copyFrom(MemorySegment source, long start, int length, int skipped) {
    segment();
    int copied = 0;
    long skip = skipped;
    for (int i = 0; i < count && copied < length; i++) {
      long size = pieces[i].byteSize();
      long room = Math.min(size - Math.min(skip, size), length - copied);
      MemorySegment.copy(source, start + copied, pieces[i], size - Math.max(0, size - skip), room);
      copied += (int) room;
      skip = Math.max(0, skip - size);
    }
    return copied;
  }

  /**
   * The array, for a call.
   *
   * @throws IllegalStateException if a piece was freed, and its memory may be in other use
   */
  MemorySegment segment() {
    for (int i = 0; i < count; i++) {
      if (!pieces[i].scope().isAlive()) {
        throw new IllegalStateException("piece %d of %d was freed".formatted(i, count));
      }
    }
    return array;
  }
}
