package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The clock that all processes of a machine share and that never jumps ({@code clock_gettime(2)},
 * CLOCK_MONOTONIC). On Linux HotSpot's {@link System#nanoTime} reads the same clock, so its values
 * can be passed to the kernel and to other processes; a test verifies this.
 */
public final class MonotonicClock {
  private static final int CLOCK_MONOTONIC = 1;

  private MonotonicClock() {}

  /** The time in nanoseconds. */
  public static long nanos(Sys sys) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment now = Timespec.allocate(arena);
      call("clock_gettime", "CLOCK_MONOTONIC", () -> sys.clockGettime(CLOCK_MONOTONIC, now));
      return Timespec.get(now);
    }
  }
}
