package dev.belfry.shm;

import dev.belfry.linux.Errno;
import dev.belfry.linux.FutexSet;
import java.lang.foreign.MemorySegment;

/**
 * The host waits for a slot of its pool, which any guest may give back: so it sleeps at the tails
 * of all attached guests together.
 */
// r[impl shm.wakeup.slot-wait]
final class HostSlotShortage implements Awaitable {
  /** Where the kernel cannot wait for several words: how long to wait for the own guest's. */
  private static final long SHORT_SLEEP_NANOS = 1_000_000;

  private final Segment segment;
  private final Link link;
  private final SlotSource slots;
  private final int peer;
  private final Ring[] rings;
  private final FutexSet words;
  private int armed;
  private int ownExpected;

  HostSlotShortage(Segment segment, Link link, SlotSource slots, int peer) {
    this.segment = segment;
    this.link = link;
    this.slots = slots;
    this.peer = peer;
    int guests = segment.config().maxGuests();
    this.rings = new Ring[guests + 1];
    for (int other = 1; other <= guests; other++) {
      rings[other] = new Ring(segment, other, Direction.TO_GUEST);
    }
    this.words = new FutexSet(segment.sys(), Math.min(guests, FutexSet.MAX_WORDS));
  }

  @Override
  public boolean isReady() {
    return slots.hasFree();
  }

  @Override
  public boolean isOver() {
    return link.isOver();
  }

  @Override
  public MemorySegment word() {
    return rings[peer].spaceWord();
  }

  /** The own guest comes first; with more guests than the kernel takes, the last are not heard. */
  @Override
  public int arm() {
    armed = 0;
    ownExpected = add(peer);
    for (int other = 1; other < rings.length && armed < FutexSet.MAX_WORDS; other++) {
      if (other != peer && segment.peers().isAttached(other)) {
        add(other);
      }
    }
    return ownExpected;
  }

  private int add(int guest) {
    int expected = rings[guest].armSpace();
    words.set(armed++, rings[guest].spaceWord(), expected);
    return expected;
  }

  @Override
  public WaitResult sleep(FutexWait futex, int expected, long untilNanos) {
    if (armed == 1 || Thread.currentThread().isVirtual()) {
      return futex.await(word(), expected, untilNanos);
    }
    int result = words.await(armed, untilNanos);
    return switch (result) {
      case -Errno.EAGAIN -> WaitResult.CHANGED;
      case -Errno.ETIMEDOUT -> WaitResult.TIMEOUT;
      default ->
          result >= 0
              ? WaitResult.WOKEN
              : futex.await(
                  word(), expected, Math.min(untilNanos, System.nanoTime() + SHORT_SLEEP_NANOS));
    };
  }
}
