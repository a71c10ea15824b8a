package dev.belfry.shm;

import java.lang.foreign.MemorySegment;

/**
 * An event that a sender awaits at the tail of its ring; the receiver wakes it when it stores the
 * tail.
 */
abstract class TailWait implements Awaitable {
  private final Link link;
  private final Ring ring;

  TailWait(Link link, Ring ring) {
    this.link = link;
    this.ring = ring;
  }

  @Override
  public final boolean isOver() {
    return link.isOver();
  }

  @Override
  public final MemorySegment word() {
    return ring.spaceWord();
  }

  @Override
  public final int arm() {
    return ring.armSpace();
  }
}
