package dev.belfry.shm;

import java.lang.foreign.MemorySegment;

/** What a sender waits for at the tail of its ring: whoever stores the tail wakes it. */
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
