package dev.belfry.shm;

import java.util.Arrays;
import java.util.function.BooleanSupplier;

/**
 * The host's pool, which serves all guests. It tracks which guest holds which slot, so that a guest
 * that does not read cannot starve the others: one slot is reserved for each attached guest that
 * has none, as far as there are enough. The slots of a guest that is gone are reclaimed. Safe for
 * use by any number of threads: the pool and its accounts are accessed with the lock held, so that
 * no slot is reclaimed while it is being given to another guest.
 */
final class HostSlots {
  private static final int NOBODY = 0;

  private final BriefLock lock = new BriefLock();
  private final Segment segment;
  private final SlotPool pool;
  private final int count;
  private final PeerTable peers;
  private final int maxGuests;

  /** The guest that a slot was last sent to; it holds the slot unless the slot is free. */
  private final int[] holders;

  /**
   * Upper bounds on the slots that each guest holds, and on their sum: guests give slots back
   * without notice.
   */
  private final int[] mayHold;

  private int mayBeUsed;

  /** The rings to the guests by their ids, for waiting on the tails of all of them. */
  private final Ring[] rings;

  HostSlots(Segment segment) {
    this.segment = segment;
    this.pool = new SlotPool(segment, 0);
    this.count = segment.config().slotsPerGuest();
    this.peers = segment.peers();
    this.maxGuests = segment.config().maxGuests();
    this.holders = new int[count];
    this.mayHold = new int[maxGuests + 1];
    this.rings = new Ring[maxGuests + 1];
    for (int peer = 1; peer <= maxGuests; peer++) {
      rings[peer] = new Ring(segment, peer, Direction.TO_GUEST);
    }
  }

  /** The pool as a source of slots for messages to one guest. */
  SlotSource sourceFor(int peer) {
    return new Source(peer);
  }

  private final class Source implements SlotSource {
    private final int peer;

    Source(int peer) {
      this.peer = peer;
    }

    @Override
    public int allocate() {
      lock.take();
      try {
        int slot = mayTake(peer) ? pool.allocate() : -1;
        if (slot >= 0) {
          holders[slot] = peer;
          mayHold[peer]++;
          mayBeUsed++;
        }
        return slot;
      } finally {
        lock.end();
      }
    }

    @Override
    public boolean hasFree() {
      lock.take();
      try {
        return mayTake(peer) && pool.hasFree();
      } finally {
        lock.end();
      }
    }

    @Override
    public long address(int slot) {
      return pool.address(slot);
    }

    @Override
    public int generation(int slot) {
      return pool.generation(slot);
    }

    @Override
    public Awaitable shortage(Link link, Ring ring, BooleanSupplier instead) {
      return new HostSlotShortage(segment, link, this, rings, instead);
    }
  }

  /**
   * Whether a guest may take a slot: its first one always, another one if that leaves one for each
   * other guest that has none.
   */
  // r[impl shm.segment.host-slots]
  private boolean mayTake(int peer) {
    if (count - mayBeUsed >= maxGuests) {
      return true; // enough for any number of guests
    }
    recount();
    int free = count - mayBeUsed;
    if (mayHold[peer] == 0 || free >= maxGuests) {
      return true;
    }
    for (int other = 1; other <= maxGuests && free > 0; other++) {
      if (other != peer && mayHold[other] == 0 && peers.isAttached(other)) {
        free--;
      }
    }
    return free > 0;
  }

  private void recount() {
    Arrays.fill(mayHold, 0);
    mayBeUsed = 0;
    for (int word = 0; word < pool.words(); word++) {
      for (long used = pool.inUse(word); used != 0; used &= used - 1) {
        mayHold[holders[64 * word + Long.numberOfTrailingZeros(used)]]++;
        mayBeUsed++;
      }
    }
  }

  /** Reclaims what a guest that is gone still holds, and wakes all threads that wait for a slot. */
  void takeBack(int peer) {
    if (freeAll(peer) > 0) {
      for (int other = 1; other <= maxGuests; other++) {
        if (peers.isAttached(other)) {
          rings[other].wakeAllProducers();
        }
      }
    }
  }

  private int freeAll(int peer) {
    lock.take();
    try {
      int freed = 0;
      for (int slot = 0; slot < count; slot++) {
        if (holders[slot] == peer && !pool.isFree(slot)) {
          holders[slot] = NOBODY;
          pool.free(slot);
          freed++;
        }
      }
      return freed;
    } finally {
      lock.end();
    }
  }
}
