package dev.belfry.linux;

import java.lang.foreign.MemorySegment;

/**
 * The whole address space as one segment. Because it is a constant, compiled code accesses memory
 * at absolute addresses without loading a base and without a liveness check, and without any check
 * where it can see that an address is positive and aligned. That makes a ring in shared memory two
 * to three times as fast.
 *
 * <p>It also removes the safety net: a wrong address crashes the JVM. So only one class of a module
 * uses it, every address is checked against a mapping when it is computed, and that mapping
 * outlives its users.
 */
public final class AllMemory {
  /** All memory; offsets are addresses. */
  @SuppressWarnings("restricted")
  public static final MemorySegment SEGMENT = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private AllMemory() {}
}
