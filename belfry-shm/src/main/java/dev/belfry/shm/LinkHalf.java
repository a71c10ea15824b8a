package dev.belfry.shm;

import java.lang.ref.Reference;

/** The common part of the two halves of a link. One thread at a time. */
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

  /** Waits for an event that the peer causes. */
  final Awaited await(Awaitable what, long deadlineNanos) {
    try {
      return waiter.await(what, deadlineNanos);
    } catch (InternalError fault) {
      throw segment.lost(fault);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Whether an event that the peer causes happens within a moment. */
  final boolean isReadySoon(Awaitable what) {
    try {
      return waiter.isReadySoon(what);
    } catch (InternalError fault) {
      throw segment.lost(fault);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** How threads wait here. */
  final WaitStrategy strategy() {
    return waiter.strategy();
  }

  /** Whether threads that wait here never sleep, and so need no wake-up. */
  final boolean neverSleeps() {
    return strategy() == WaitStrategy.SPIN || strategy() == WaitStrategy.YIELD;
  }

  /** Sets the longest sleep without a wake-up, instead of 50 ms. */
  final void sleepAtMost(long nanos) {
    waiter.sleepAtMost(nanos);
  }

  /** How often this half went to sleep. */
  public final long sleeps() {
    return waiter.sleeps();
  }

  /**
   * How often this half slept on after its event had happened, because the peer did not wake it.
   */
  public final long unwoken() {
    return waiter.unwoken();
  }

  final Ring ring() {
    return ring;
  }
}
