package dev.belfry.shm;

import dev.belfry.linux.Errno;
import dev.belfry.linux.FutexSet;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;

/**
 * The host's wait for a slot of its pool. Any guest may give one back, so the host sleeps on the
 * tails of all attached guests together.
 */
// r[impl shm.wakeup.slot-wait]
final class HostSlotShortage implements Awaitable {
  /** How long to sleep on our own guest's word where waiting on several words is impossible. */
  private static final long SHORT_SLEEP_NANOS = 1_000_000;

  private final Segment segment;
  private final Link link;
  private final SlotSource slots;
  private final int peer;
  private final BooleanSupplier instead;
  private final Ring[] rings;
  private final FutexSet words;

  /** The guests whose tails are slept on, and the value of each word; our own guest comes first. */
  private final int[] guests;

  private final int[] expected;
  private int armed;

  /**
   * Creates a wait.
   *
   * @param rings to the guests by their ids
   */
  HostSlotShortage(
      Segment segment, Link link, SlotSource slots, Ring[] rings, BooleanSupplier instead) {
    this.segment = segment;
    this.link = link;
    this.slots = slots;
    this.peer = link.peer();
    this.instead = instead;
    this.rings = rings;
    int most = Math.min(segment.config().maxGuests(), FutexSet.MAX_WORDS);
    this.words = new FutexSet(segment.sys(), most);
    this.guests = new int[most];
    this.expected = new int[most];
  }

  @Override
  public boolean isReady() {
    return slots.hasFree() || instead.getAsBoolean();
  }

  @Override
  public boolean isOver() {
    return link.isOver();
  }

  @Override
  public MemorySegment word() {
    return rings[peer].spaceWord();
  }

  /**
   * Arms our own guest first; if there are more guests than the kernel takes words, the last are
   * not heard.
   */
  @Override
  public int arm() {
    armed = 0;
    add(peer);
    for (int other = 1; other < rings.length && armed < FutexSet.MAX_WORDS; other++) {
      if (other != peer && segment.peers().isAttached(other)) {
        add(other);
      }
    }
    return expected[0];
  }

  private void add(int guest) {
    guests[armed] = guest;
    expected[armed] = rings[guest].armSpace();
    armed++;
  }

  @Override
  public void words(int own, Room.Words each) {
    for (int i = 0; i < armed; i++) {
      each.sleepOn(rings[guests[i]].spaceWord(), expected[i]);
    }
  }

  @Override
  public WaitResult sleep(FutexWait futex, int own, long untilNanos) {
    if (armed == 1) {
      return futex.await(word(), own, untilNanos);
    }
    if (Thread.currentThread().isVirtual()) {
      return sleepShortly(futex, own, untilNanos);
    }
    for (int i = 0; i < armed; i++) {
      words.set(i, rings[guests[i]].spaceWord(), expected[i]);
    }
    int result = words.await(armed, untilNanos);
    return switch (result) {
      case -Errno.EAGAIN -> WaitResult.CHANGED;
      case -Errno.ETIMEDOUT -> WaitResult.TIMEOUT;
      default -> result >= 0 ? WaitResult.WOKEN : sleepShortly(futex, own, untilNanos);
    };
  }

  /**
   * Sleeps on our own guest's word alone; slots given back by others are found at the next look.
   */
  private WaitResult sleepShortly(FutexWait futex, int own, long untilNanos) {
    long soon = System.nanoTime() + SHORT_SLEEP_NANOS;
    return futex.await(word(), own, Deadlines.earlier(untilNanos, soon));
  }
}
