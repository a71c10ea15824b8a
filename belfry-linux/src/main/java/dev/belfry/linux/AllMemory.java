package dev.belfry.linux;

import java.lang.foreign.MemorySegment;

/**
 * The whole address space as one segment. Because it is a constant, compiled code reaches memory
 * through it at absolute addresses without loading a base and without asking whether it is still
 * mapped, and where it can see that an address is positive and aligned, without any check: that
 * doubles to triples the speed of a ring in shared memory.
 *
 * <p>It also takes away the net: a wrong address crashes the JVM. So one class of a module uses it,
 * every address is checked against a mapping when it is made, and that mapping outlives its users.
 */
public final class AllMemory {
  /** Everything, at offsets that are addresses. */
  @SuppressWarnings("restricted")
  public static final MemorySegment SEGMENT = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private AllMemory() {}
}
