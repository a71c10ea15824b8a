package dev.belfry.shm;

import java.util.function.BooleanSupplier;

/** Provides a sender with slots. */
interface SlotSource {
  /**
   * Allocates a free slot and increments its generation; returns its index, or -1 if there is none.
   */
  int allocate();

  /** Whether a slot could be allocated now. */
  boolean hasFree();

  /** The address of a slot's generation, which its payload follows. */
  long address(int slot);

  /** The generation of an allocated slot, which the sender writes into it. */
  int generation(int slot);

  /**
   * The event to wait for when there is no slot.
   *
   * @param ring the sender's ring; its receiver gives slots back before it stores the tail
   * @param instead whether the message can go without a slot by now, because the ring was read
   */
  Awaitable shortage(Link link, Ring ring, BooleanSupplier instead);
}
