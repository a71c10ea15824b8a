package dev.belfry.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A set of signals.
 *
 * @param bits signal {@code n} is bit {@code n - 1}, as in the kernel and in {@code
 *     /proc/PID/status}
 */
public record SigSet(long bits) {
  /** No signal. */
  public static final SigSet EMPTY = new SigSet(0);

  /** Every signal from 1 to 64. */
  public static final SigSet ALL = new SigSet(-1L);

  /** The size of the C library's {@code sigset_t}; the kernel itself uses the first 8 bytes. */
  private static final long SIGSET_BYTES = 128;

  /** The set of the given signals. */
  public static SigSet of(int... signals) {
    SigSet set = EMPTY;
    for (int signal : signals) {
      set = set.with(signal);
    }
    return set;
  }

  /** All signals from the first to the last, inclusive. */
  public static SigSet range(int first, int last) {
    SigSet set = EMPTY;
    for (int signal = first; signal <= last; signal++) {
      set = set.with(signal);
    }
    return set;
  }

  /** Parses a set as shown in {@code /proc/PID/status}, for example after {@code SigBlk}. */
  static SigSet ofHex(String hex) {
    return new SigSet(Long.parseUnsignedLong(hex.strip(), 16));
  }

  /** This set plus a signal. */
  public SigSet with(int signal) {
    return new SigSet(bits | bit(signal));
  }

  /** This set without a signal. */
  public SigSet without(int signal) {
    return new SigSet(bits & ~bit(signal));
  }

  /** The union of both sets. */
  public SigSet union(SigSet other) {
    return new SigSet(bits | other.bits);
  }

  /** The signals of this set that are not in the other. */
  public SigSet minus(SigSet other) {
    return new SigSet(bits & ~other.bits);
  }

  /** Whether the signal is in the set. */
  public boolean contains(int signal) {
    return (bits & bit(signal)) != 0;
  }

  /** Whether the set contains all signals of the other. */
  public boolean containsAll(SigSet other) {
    return (other.bits & ~bits) == 0;
  }

  /** Whether the set is empty. */
  public boolean isEmpty() {
    return bits == 0;
  }

  /** The signals, in ascending order. */
  public IntStream signals() {
    return IntStream.rangeClosed(1, Signo.RTMAX).filter(this::contains);
  }

  /** The set as a {@code sigset_t}. */
  public MemorySegment toNative(SegmentAllocator allocator) {
    MemorySegment sigset = allocator.allocate(SIGSET_BYTES, Long.BYTES).fill((byte) 0);
    sigset.set(ValueLayout.JAVA_LONG, 0, bits);
    return sigset;
  }

  /** The set in a {@code sigset_t}. */
  static SigSet ofNative(MemorySegment sigset) {
    return new SigSet(sigset.get(ValueLayout.JAVA_LONG, 0));
  }

  @Override
  public String toString() {
    return signals().mapToObj(Signo::name).collect(Collectors.joining(",", "{", "}"));
  }

  private static long bit(int signal) {
    if (signal < 1 || signal > Signo.RTMAX) {
      throw new IllegalArgumentException("not a signal number: " + signal);
    }
    return 1L << (signal - 1);
  }
}
