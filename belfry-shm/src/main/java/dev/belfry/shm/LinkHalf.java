package dev.belfry.shm;

import java.lang.ref.Reference;

/** What the two halves of a link have in common. For one thread at a time. */
abstract sealed class LinkHalf permits Inbox, Outbox {
  final Link link;
  final Segment segment;
  final Ring ring;
  final Memory memory;
  final int inlineBytes;
  final int mostInPocket;
  private final Waiter waiter;

  LinkHalf(Link link, Ring ring, WaitStrategy strategy) {
    this.link = link;
    this.segment = link.segment();
    this.ring = ring;
    this.memory = ring.memory();
    this.inlineBytes = segment.layout().inlineBytes();
    this.mostInPocket = segment.layout().mostInPocket();
    this.waiter = new Waiter(segment, strategy);
  }

  /** Waits for something that the peer does. */
  final Awaited await(Awaitable what, long deadlineNanos) {
    try {
      return waiter.await(what, deadlineNanos);
    } catch (InternalError fault) {
      throw segment.lost(fault);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Whether something that the peer does happens within a moment. */
  final boolean isReadySoon(Awaitable what) {
    try {
      return waiter.isReadySoon(what);
    } catch (InternalError fault) {
      throw segment.lost(fault);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** How a thread waits here. */
  final WaitStrategy strategy() {
    return waiter.strategy();
  }

  /** Whether a thread that waits here never sleeps, so that nobody need wake it. */
  final boolean neverSleeps() {
    return strategy() == WaitStrategy.SPIN || strategy() == WaitStrategy.YIELD;
  }

  /** Sleeps so long at a stretch, unless it is woken, instead of the usual 50 ms. */
  final void sleepAtMost(long nanos) {
    waiter.sleepAtMost(nanos);
  }

  /** How often this half went to sleep. */
  public final long sleeps() {
    return waiter.sleeps();
  }

  /** How often it slept on although what it waited for had come: its peer does not wake it. */
  public final long unwoken() {
    return waiter.unwoken();
  }

  final Ring ring() {
    return ring;
  }
}
