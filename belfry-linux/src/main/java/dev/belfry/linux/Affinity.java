package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;

/** The processors a thread may run on ({@code sched_setaffinity(2)}). */
public final class Affinity {
  /** Stands for the calling thread. */
  public static final int THIS_THREAD = 0;

  /** Room for 8192 processors, as many as Linux supports. */
  private static final int MASK_BYTES = 1024;

  private Affinity() {}

  /** The processors a thread may run on. */
  public static BitSet get(Sys sys, int tid) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      call("sched_getaffinity", "thread " + tid, () -> sys.schedGetaffinity(tid, MASK_BYTES, mask));
      return BitSet.valueOf(mask.toArray(ValueLayout.JAVA_BYTE));
    }
  }

  /** Restricts a thread to these processors. */
  public static void set(Sys sys, int tid, BitSet processors) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      mask.copyFrom(MemorySegment.ofArray(processors.toByteArray()));
      call(
          "sched_setaffinity",
          "thread %d to processors %s".formatted(tid, processors),
          () -> sys.schedSetaffinity(tid, MASK_BYTES, mask));
    }
  }
}
