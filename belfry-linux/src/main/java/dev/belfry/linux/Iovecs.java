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
 * The kernel sees addresses only, so the pieces are kept here to keep their memory alive.
 */
public final class Iovecs {
  /** The most pieces the kernel takes at once ({@code IOV_MAX}). */
  public static final int MAX = 1024;

  private static final long IOVEC_BYTES = 16;
  private static final long BASE = 0;
  private static final long LENGTH = 8;

  private final MemorySegment array;
  private final MemorySegment[] pieces;
  private int count;

  /** Room for a number of pieces, {@value #MAX} at most. */
  public Iovecs(Arena arena, int capacity) {
    if (capacity < 1 || capacity > MAX) {
      throw new IllegalArgumentException("1 to 1024 pieces, not " + capacity);
    }
    array = arena.allocate(IOVEC_BYTES * capacity, Long.BYTES);
    pieces = new MemorySegment[capacity];
  }

  /** Forgets all pieces. */
  public void clear() {
    count = 0;
  }

  /** Adds a piece of native memory behind the others. */
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

  /** Whether there is room for a byte in the pieces. */
  public boolean hasRoom() {
    for (int i = 0; i < count; i++) {
      if (pieces[i].byteSize() > 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Copies into the pieces, one after the other, as a call that receives does.
   *
   * @param skipped how many bytes of the pieces have data already
   * @return how many bytes fitted
   * @throws IllegalStateException if a piece was freed; then nothing was copied
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
   * @throws IllegalStateException if a piece was freed: the kernel would write to anybody's memory
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
