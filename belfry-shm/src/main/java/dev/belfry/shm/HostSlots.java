package dev.belfry.shm;

/**
 * The host's pool, which serves all guests. It remembers who holds which slot, so that a guest that
 * does not read cannot take what the others need: while others are attached, a slot is held back
 * for each of them as far as there are enough. And when a guest is gone, what it held comes back.
 * For any number of threads: whoever touches the pool or the accounts holds the lock of this
 * object, so that nobody takes a slot back while it is being given to another guest.
 */
final class HostSlots {
  private static final int NOBODY = 0;

  private final Segment segment;
  private final SlotPool pool;
  private final int count;
  private final PeerTable peers;
  private final int maxGuests;

  /** What a guest may hold even if all others are there; saves checking which are. */
  private final int leastQuota;

  /** The guest that a slot was last sent to, which holds it while it is not free. */
  private final int[] holders;

  HostSlots(Segment segment) {
    this.segment = segment;
    this.pool = new SlotPool(segment, 0);
    this.count = segment.config().slotsPerGuest();
    this.peers = segment.peers();
    this.maxGuests = segment.config().maxGuests();
    this.leastQuota = Math.max(1, count - (maxGuests - 1));
    this.holders = new int[count];
  }

  /** The pool as a source of slots for messages to one guest. */
  SlotSource sourceFor(int peer) {
    return new Source(peer);
  }

  private final class Source implements SlotSource {
    private final int peer;

    /** An upper bound on what the guest holds: it gives slots back without telling. */
    private int mayHold;

    Source(int peer) {
      this.peer = peer;
    }

    @Override
    public int allocate() {
      synchronized (HostSlots.this) {
        int slot = isWithinQuota() ? pool.allocate() : -1;
        if (slot >= 0) {
          holders[slot] = peer;
          mayHold++;
        }
        return slot;
      }
    }

    // r[impl shm.segment.host-slots]
    private boolean isWithinQuota() {
      if (mayHold >= leastQuota) {
        mayHold = held(peer);
      }
      return mayHold < leastQuota || mayHold < quota(peer);
    }

    @Override
    public boolean hasFree() {
      synchronized (HostSlots.this) {
        return isWithinQuota() && pool.hasFree();
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

  /** How many slots a guest may hold, at least one. */
  private int quota(int peer) {
    int limit = count;
    for (int other = 1; other <= maxGuests && limit > 1; other++) {
      if (other != peer && peers.isAttached(other)) {
        limit--;
      }
    }
    return limit;
  }

  /** How many slots a guest has not given back. */
  synchronized int held(int peer) {
    int held = 0;
    for (int slot = 0; slot < count; slot++) {
      if (holders[slot] == peer && !pool.isFree(slot)) {
        held++;
      }
    }
    return held;
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

  private synchronized int freeAll(int peer) {
    int freed = 0;
    for (int slot = 0; slot < count; slot++) {
      if (holders[slot] == peer && !pool.isFree(slot)) {
        holders[slot] = NOBODY;
        pool.free(slot);
        freed++;
      }
    }
    return freed;
  }

  /** How many slots are free. */
  synchronized int free() {
    int free = 0;
    for (int slot = 0; slot < count; slot++) {
      free += pool.isFree(slot) ? 1 : 0;
    }
    return free;
  }
}
