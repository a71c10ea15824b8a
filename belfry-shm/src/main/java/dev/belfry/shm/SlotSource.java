package dev.belfry.shm;

/** Where a sender gets slots from. */
interface SlotSource {
  /** Takes a free slot and increments its generation; returns its index, or -1 if there is none. */
  int allocate();

  /** Whether a slot could be taken now. */
  boolean hasFree();

  /** The address of a slot's generation, behind which is its payload. */
  long address(int slot);

  /** The generation of a slot that was taken, which the sender writes into it. */
  int generation(int slot);

  /**
   * What to wait for when there is no slot.
   *
   * @param ring the sender's ring; its peer gives slots back before it stores the tail
   */
  Awaitable shortage(Link link, Ring ring);
}
