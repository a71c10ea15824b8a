package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.belfry.linux.AllMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Access to a mapping at absolute addresses. Each address comes from {@link #address}, where it was
 * checked once. Methods are named for their memory order; those that name none are plain.
 *
 * <p>In production the addresses go to {@link AllMemory}, which compiled code accesses without any
 * check. With {@code -Dbelfry.shm.checked=true} the same code goes through the mapping's own
 * segment, where every access is checked; the tests run both. As long as only one of the two
 * subclasses is loaded, the compiler calls it directly.
 *
 * <p>An instance keeps its mapping alive. Code that works with addresses must keep the instance
 * reachable until it is done ({@code Reference.reachabilityFence}).
 */
abstract class Memory {
  private static final boolean CHECKED = Boolean.getBoolean("belfry.shm.checked");

  private static final VarHandle INT = JAVA_INT.varHandle();
  private static final VarHandle LONG = JAVA_LONG.varHandle();
  private static final VarHandle ANY_LONG = JAVA_LONG_UNALIGNED.varHandle();
  private static final VarHandle LONG_OF_BYTES =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  // These masks change no address. They tell the compiler that it is positive and aligned, so that
  // it drops the checks for that, which take longer than the accesses themselves.
  private static final long OF_BYTE = Long.MAX_VALUE >>> 1;
  private static final long OF_INT = OF_BYTE & -Integer.BYTES;
  private static final long OF_LONG = OF_BYTE & -Long.BYTES;

  /** Up to this length, copying word by word beats calling the JDK's routine. */
  private static final int FEW_BYTES = 1024;

  private final MemorySegment mapping;

  Memory(MemorySegment mapping) {
    this.mapping = mapping;
  }

  static Memory over(MemorySegment mapping) {
    // Not "new Checked": to verify that it is a Memory, the verifier would load the class, used or
    // not, and with two subclasses loaded every access becomes a type test.
    return CHECKED ? Checked.over(mapping) : new Unchecked(mapping);
  }

  /** The address of a range of the mapping. */
  final long address(long offset, long bytes) {
    Objects.checkFromIndexSize(offset, bytes, mapping.byteSize());
    return mapping.address() + offset;
  }

  /**
   * Returns the same address, known to be that of a long. The compiler then drops the checks of the
   * plain accesses at and behind it; all other accesses mask their own address.
   */
  static long aligned(long address) {
    return address & OF_LONG;
  }

  /** The four bytes of a futex word. */
  final MemorySegment word(long offset) {
    return mapping.asSlice(offset, Integer.BYTES);
  }

  /** The mapping itself, for code that is not hot. */
  final MemorySegment mapping() {
    return mapping;
  }

  abstract int getInt(long address);

  abstract int getIntAcquire(long address);

  abstract void setInt(long address, int value);

  abstract void setIntRelease(long address, int value);

  abstract boolean compareAndSetInt(long address, int expected, int value);

  /** Adds with release order; returns the previous value. */
  abstract int getAndAddIntRelease(long address, int value);

  abstract long getLong(long address);

  abstract long getLongAcquire(long address);

  abstract void setLong(long address, long value);

  abstract void setLongRelease(long address, long value);

  abstract boolean compareAndSetLong(long address, long expected, long value);

  /** Sets bits with release order; returns the previous value. */
  abstract long getAndOrLongRelease(long address, long bits);

  /** Copies bytes out. */
  abstract void read(long address, byte[] to, int offset, int length);

  /** Copies bytes in. */
  abstract void write(long address, byte[] from, int offset, int length);

  /** Accesses all memory, unchecked. */
  private static final class Unchecked extends Memory {
    Unchecked(MemorySegment mapping) {
      super(mapping);
    }

    @Override
    int getInt(long address) {
      return (int) INT.get(AllMemory.SEGMENT, address & OF_INT);
    }

    @Override
    int getIntAcquire(long address) {
      return (int) INT.getAcquire(AllMemory.SEGMENT, address & OF_INT);
    }

    @Override
    void setInt(long address, int value) {
      INT.set(AllMemory.SEGMENT, address & OF_INT, value);
    }

    @Override
    void setIntRelease(long address, int value) {
      INT.setRelease(AllMemory.SEGMENT, address & OF_INT, value);
    }

    @Override
    boolean compareAndSetInt(long address, int expected, int value) {
      return INT.compareAndSet(AllMemory.SEGMENT, address & OF_INT, expected, value);
    }

    @Override
    int getAndAddIntRelease(long address, int value) {
      return (int) INT.getAndAddRelease(AllMemory.SEGMENT, address & OF_INT, value);
    }

    @Override
    long getLong(long address) {
      return (long) LONG.get(AllMemory.SEGMENT, address);
    }

    @Override
    long getLongAcquire(long address) {
      return (long) LONG.getAcquire(AllMemory.SEGMENT, address & OF_LONG);
    }

    @Override
    void setLong(long address, long value) {
      LONG.set(AllMemory.SEGMENT, address, value);
    }

    @Override
    void setLongRelease(long address, long value) {
      LONG.setRelease(AllMemory.SEGMENT, address & OF_LONG, value);
    }

    @Override
    boolean compareAndSetLong(long address, long expected, long value) {
      return LONG.compareAndSet(AllMemory.SEGMENT, address & OF_LONG, expected, value);
    }

    @Override
    long getAndOrLongRelease(long address, long bits) {
      return (long) LONG.getAndBitwiseOrRelease(AllMemory.SEGMENT, address & OF_LONG, bits);
    }

    @Override
    void read(long address, byte[] to, int offset, int length) {
      if (length > FEW_BYTES) {
        MemorySegment.copy(AllMemory.SEGMENT, JAVA_BYTE, address, to, offset, length);
        return;
      }
      long from = address & OF_BYTE;
      int at = 0;
      for (; at <= length - Long.BYTES; at += Long.BYTES) {
        long word = (long) ANY_LONG.get(AllMemory.SEGMENT, from + at);
        LONG_OF_BYTES.set(to, offset + at, word);
      }
      for (; at < length; at++) {
        to[offset + at] = AllMemory.SEGMENT.get(JAVA_BYTE, from + at);
      }
    }

    @Override
    void write(long address, byte[] from, int offset, int length) {
      if (length > FEW_BYTES) {
        MemorySegment.copy(from, offset, AllMemory.SEGMENT, JAVA_BYTE, address, length);
        return;
      }
      long to = address & OF_BYTE;
      int at = 0;
      for (; at <= length - Long.BYTES; at += Long.BYTES) {
        long word = (long) LONG_OF_BYTES.get(from, offset + at);
        ANY_LONG.set(AllMemory.SEGMENT, to + at, word);
      }
      for (; at < length; at++) {
        AllMemory.SEGMENT.set(JAVA_BYTE, to + at, from[offset + at]);
      }
    }
  }

  /** Accesses the mapping's own segment. */
  private static final class Checked extends Memory {
    private final MemorySegment own;
    private final long base;

    private Checked(MemorySegment mapping) {
      super(mapping);
      this.own = mapping;
      this.base = mapping.address();
    }

    static Memory over(MemorySegment mapping) {
      return new Checked(mapping);
    }

    @Override
    int getInt(long address) {
      return (int) INT.get(own, address - base);
    }

    @Override
    int getIntAcquire(long address) {
      return (int) INT.getAcquire(own, address - base);
    }

    @Override
    void setInt(long address, int value) {
      INT.set(own, address - base, value);
    }

    @Override
    void setIntRelease(long address, int value) {
      INT.setRelease(own, address - base, value);
    }

    @Override
    boolean compareAndSetInt(long address, int expected, int value) {
      return INT.compareAndSet(own, address - base, expected, value);
    }

    @Override
    int getAndAddIntRelease(long address, int value) {
      return (int) INT.getAndAddRelease(own, address - base, value);
    }

    @Override
    long getLong(long address) {
      return (long) LONG.get(own, address - base);
    }

    @Override
    long getLongAcquire(long address) {
      return (long) LONG.getAcquire(own, address - base);
    }

    @Override
    void setLong(long address, long value) {
      LONG.set(own, address - base, value);
    }

    @Override
    void setLongRelease(long address, long value) {
      LONG.setRelease(own, address - base, value);
    }

    @Override
    boolean compareAndSetLong(long address, long expected, long value) {
      return LONG.compareAndSet(own, address - base, expected, value);
    }

    @Override
    long getAndOrLongRelease(long address, long bits) {
      return (long) LONG.getAndBitwiseOrRelease(own, address - base, bits);
    }

    @Override
    void read(long address, byte[] to, int offset, int length) {
      MemorySegment.copy(own, JAVA_BYTE, address - base, to, offset, length);
    }

    @Override
    void write(long address, byte[] from, int offset, int length) {
      MemorySegment.copy(from, offset, own, JAVA_BYTE, address - base, length);
    }
  }
}
