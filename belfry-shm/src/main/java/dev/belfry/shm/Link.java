package dev.belfry.shm;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One side of the connection between the host and one guest: a sending and a receiving half. The
 * halves are independent of each other; each is for one thread at a time.
 *
 * <p>A link is over when its entry no longer belongs to this guest, when the host has said goodbye
 * (guests only), or when it was closed. Messages that arrived before can still be received.
 */
// r[impl shm.topology.hub.communication]
// r[impl shm.topology.hub.calls]
// r[impl shm.id.request-scope]
// r[impl shm.id.channel-scope]
public final class Link implements AutoCloseable {
  private final Segment segment;
  private final int peer;
  private final int epoch;
  private final boolean host;
  private final boolean listenedTo;
  private final Memory memory;
  private final long pairAddress;
  private final long attached;
  private final long goodbye;
  private final Outbox outbox;
  private final Inbox inbox;
  private final Channels channels;
  private volatile boolean closed;
  private volatile boolean left;

  private Link(
      Segment segment,
      int peer,
      boolean host,
      SlotSource slots,
      WaitStrategy strategy,
      @Nullable Doorbell bell,
      boolean listenedTo) {
    this.segment = segment;
    this.peer = peer;
    this.host = host;
    this.listenedTo = listenedTo;
    this.memory = segment.memory();
    this.pairAddress = segment.peers().pairAddress(peer);
    this.epoch = segment.peers().epoch(peer);
    this.attached = PeerTable.pair(PeerState.ATTACHED, epoch);
    this.goodbye = PeerTable.pair(PeerState.GOODBYE, epoch);
    Direction out = host ? Direction.TO_GUEST : Direction.TO_HOST;
    this.outbox = new Outbox(this, new Ring(segment, peer, out, bell), slots, strategy);
    this.inbox =
        new Inbox(
            this,
            new Ring(segment, peer, out.opposite(), bell),
            new SlotReader(segment, host ? peer : 0),
            strategy);
    this.channels = new Channels(this);
  }

  /** Attaches a guest to the first free entry. */
  public static Link walkIn(Segment segment, WaitStrategy strategy) throws IOException {
    try {
      return ofGuest(segment, segment.peers().walkIn(), strategy, null);
    } catch (InternalError fault) {
      throw segment.lost(fault);
    }
  }

  /** Attaches a guest to the entry that was reserved for it. */
  public static Link claim(Segment segment, int peer, WaitStrategy strategy) throws IOException {
    return claim(segment, peer, strategy, null);
  }

  /** Attaches a guest with a bell to the entry that was reserved for it. */
  static Link claim(Segment segment, int peer, WaitStrategy strategy, @Nullable Doorbell bell)
      throws IOException {
    try {
      segment.peers().claim(peer);
      return ofGuest(segment, peer, strategy, bell);
    } catch (InternalError fault) {
      throw segment.lost(fault);
    }
  }

  private static Link ofGuest(
      Segment segment, int peer, WaitStrategy strategy, @Nullable Doorbell bell) {
    return new Link(segment, peer, false, new SlotPool(segment, peer), strategy, bell, false);
  }

  /** The host's side of the link to an attached guest; at most one at a time for each guest. */
  public static Link toGuest(Segment segment, int peer, WaitStrategy strategy) {
    return toGuest(segment, peer, strategy, null, false);
  }

  /**
   * The host's side of the link to a guest with a bell.
   *
   * @param listenedTo whether an event loop sleeps at the bell for the guest's messages
   */
  static Link toGuest(
      Segment segment,
      int peer,
      WaitStrategy strategy,
      @Nullable Doorbell bell,
      boolean listenedTo) {
    SlotSource slots = segment.hostSlots().sourceFor(peer);
    return new Link(segment, peer, true, slots, strategy, bell, listenedTo);
  }

  /** The guest's peer id. */
  public int peer() {
    return peer;
  }

  /** The sending half. */
  public Outbox outbox() {
    return outbox;
  }

  /** The receiving half. */
  public Inbox inbox() {
    return inbox;
  }

  /** The channels of this link. */
  public Channels channels() {
    return channels;
  }

  /**
   * Whether an event loop sleeps at the bell for incoming messages, whatever the strategy of its
   * threads. Such a side must never announce that it spins: a peer that believes so skips the
   * fence, and could miss that the loop has gone to sleep.
   */
  boolean isListenedTo() {
    return listenedTo;
  }

  boolean isHost() {
    return host;
  }

  Segment segment() {
    return segment;
  }

  /** Whether nothing more can be sent. */
  public boolean isOver() {
    try {
      boolean over =
          memory.getLongAcquire(pairAddress) != attached
              || closed
              || segment.isClosed()
              || (!host && segment.hasHostLeft());
      if (over) {
        segment.checkIntact(); // a fault may have made it look so
      }
      return over;
    } catch (InternalError fault) {
      throw segment.lost(fault);
    }
  }

  /**
   * Whether a guest's entry may belong to another guest, so that this one must not touch it any
   * more. Until the host recycles the entry, a guest that has left can read on, and one that was
   * given up can read the reason.
   */
  boolean isEntryLost() {
    if (host) {
      return false;
    }
    long pair = memory.getLong(pairAddress);
    boolean lost = pair != attached && pair != goodbye;
    if (lost) {
      segment.checkIntact(); // as in isOver
    }
    return lost;
  }

  /** Whether a guest has left, so that its entry can go to another at any time. */
  boolean hasLeft() {
    return left;
  }

  /**
   * Leaves. A guest waits until the host has read what was sent, up to the deadline, and says
   * goodbye. The host only stops using its side.
   *
   * @param deadlineNanos how long to wait for the host, a time of {@link System#nanoTime}
   * @throws ProtocolViolation if the host's counter is invalid; the guest has left regardless
   */
  public void leave(long deadlineNanos) {
    try {
      if (!host) {
        outbox.awaitAllRead(deadlineNanos);
      }
    } catch (ProtocolViolation e) {
      sayGoodbye(); // there is nothing to wait for
      throw e;
    }
    sayGoodbye();
  }

  /**
   * Waits as {@link #leave} does and stops sending, but leaves the goodbye to {@link #sayGoodbye}.
   */
  void closeWhenRead(long deadlineNanos) {
    try {
      outbox.awaitAllRead(deadlineNanos);
    } finally {
      close();
    }
  }

  /** Says goodbye for a guest; from then on its entry can go to another. */
  void sayGoodbye() {
    if (!host) {
      left = true;
      channels.end();
      segment.checkIntact(); // in truncated memory a compare-and-set would crash the JVM
      segment.peers().leave(peer, epoch);
    }
    close();
  }

  /** Ends this side's use of the link and wakes all threads that wait on it. */
  @Override
  public void close() {
    closed = true;
    if (!segment.isIntact()) {
      return; // no thread sleeps on truncated memory
    }
    try {
      outbox.ring().wakeAll();
      inbox.ring().wakeAll();
    } catch (InternalError cut) {
      // Truncated just now.
    }
  }

  @Override
  public String toString() {
    return "%s of peer %d at %s".formatted(host ? "host's side" : "guest's side", peer, segment);
  }
}
