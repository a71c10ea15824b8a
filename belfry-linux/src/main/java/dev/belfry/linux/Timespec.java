package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * A point in time or a duration for the kernel ({@code timespec(3type)}):
 *
 * <pre>{@code
 * struct timespec { time_t tv_sec; long tv_nsec; };   // 8 + 8 bytes on 64-bit machines
 * }</pre>
 */
final class Timespec {
  static final long BYTES = 16;

  private static final long SECONDS = 0;
  private static final long NANOS = 8;
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private Timespec() {}

  static MemorySegment allocate(SegmentAllocator allocator) {
    return allocator.allocate(BYTES, Long.BYTES);
  }

  static void set(MemorySegment timespec, long nanos) {
    timespec.set(JAVA_LONG, SECONDS, nanos / NANOS_PER_SECOND);
    timespec.set(JAVA_LONG, NANOS, nanos % NANOS_PER_SECOND);
  }

  static long get(MemorySegment timespec) {
    return timespec.get(JAVA_LONG, SECONDS) * NANOS_PER_SECOND + timespec.get(JAVA_LONG, NANOS);
  }
}
