package dev.belfry.shm;

import java.util.Arrays;

/**
 * The host's pool, which serves all guests. It remembers who holds which slot, so that a guest that
 * does not read cannot take what the others need: while others are attached, a slot is held back
 * for each of them that has none, as far as there are enough. And when a guest is gone, what it
 * held comes back. For any number of threads: whoever touches the pool or the accounts holds the
 * lock, so that nobody takes a slot back while it is being given to another guest.
 */
final class HostSlots {
  private static final int NOBODY = 0;

  private final BriefLock lock = new BriefLock();
  private final Segment segment;
  private final SlotPool pool;
  private final int count;
  private final PeerTable peers;
  private final int maxGuests;

  /** The guest that a slot was last sent to, which holds it while it is not free. */
  private final int[] holders;

  /** Upper bounds on what each guest holds, and all together: they give back without telling. */
  private final int[] mayHold;

  private int mayBeUsed;

  HostSlots(Segment segment) {
    this.segment = segment;
    this.pool = new SlotPool(segment, 0);
    this.count = segment.config().slotsPerGuest();
    this.peers = segment.peers();
    this.maxGuests = segment.config().maxGuests();
    this.holders = new int[count];
    this.mayHold = new int[maxGuests + 1];
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
    public Awaitable shortage(Link link, Ring ring) {
      return new HostSlotShortage(segment, link, this, peer);
    }
  }

  /**
   * Whether a guest may take a slot: its first always, another if then one is left for each other
   * guest that has none.
   */
  // r[impl shm.segment.host-slots]
  private boolean mayTake(int peer) {
    if (count - mayBeUsed >= maxGuests) {
      return true; // whoever is there
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

  /** Takes back what a guest that is gone still holds, and wakes whoever waits for a slot. */
  void takeBack(int peer) {
    if (freeAll(peer) > 0) {
      for (int other = 1; other <= maxGuests; other++) {
        if (peers.isAttached(other)) {
          new Ring(segment, other, Direction.TO_GUEST).wakeAllProducers();
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
