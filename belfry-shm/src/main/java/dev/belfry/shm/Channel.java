package dev.belfry.shm;

import dev.belfry.linux.Futex;
import dev.belfry.shm.ProtocolViolation.Kind;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * One side's end of a channel: a stream of Data messages from one side to the other, whose receiver
 * grants the sender credit. Only the bytes of Data messages count.
 *
 * <p>Sending and ending are confined to the thread of the outbox; any thread may grant. One thread
 * at a time may wait for credit.
 */
public final class Channel {
  private static final byte[] NO_BYTES = new byte[0];

  private final Link link;
  private final int id;
  private final Memory memory;
  private final long granted;
  private final MemorySegment grantedWord;
  private final int window;
  private final Credit credit = new Credit();

  /** Its own waiter, so that other threads can use the outbox meanwhile. */
  private final Waiter waiter;

  /** The number of bytes sent, modulo 2^32. */
  private int sent;

  /** The last value seen of the receiver's count, which never decreases. */
  private int lastGranted;

  private volatile boolean ended;

  /** Whether this side has ended the channel. */
  private boolean closed;

  /** Whether the peer ended the id's previous life, and discards data until it sees this one. */
  private final boolean endedByPeer;

  /** Whether a message was sent, and our counter after the first one. */
  private boolean used;

  private int afterFirst;

  Channel(Link link, int id, boolean endedByPeer) {
    this.link = link;
    this.id = id;
    this.endedByPeer = endedByPeer;
    Segment segment = link.segment();
    this.memory = segment.memory();
    this.waiter = new Waiter(segment, link.outbox().strategy());
    long offset = segment.layout().channelGranted(link.peer(), id);
    this.granted = memory.address(offset, Integer.BYTES);
    this.grantedWord = memory.word(offset);
    // r[impl shm.flow.initial]
    this.window = (int) Math.min(segment.config().initialCredit(), Integer.MAX_VALUE);
    this.lastGranted = window;
  }

  /** The channel's id. */
  public int id() {
    return id;
  }

  /** Whether either side has ended the channel, or has left. */
  public boolean isEnded() {
    Channels channels = link.channels();
    if (ended || channels.isOver()) {
      return true;
    }
    try {
      boolean active = channels.state(id) == Channels.ACTIVE;
      if (!active) {
        link.segment().checkIntact(); // a fault may have made it look so
      }
      return !active;
    } catch (InternalError fault) {
      throw link.segment().lost(fault);
    }
  }

  /**
   * The number of bytes that may be sent now.
   *
   * @throws ProtocolViolation if the receiver has withdrawn credit
   */
  // r[impl shm.flow.remaining-credit]
  // r[impl shm.flow.wrap-rule]
  // r[impl shm.flow.ordering.sender]
  public int remainingCredit() {
    try {
      int now = memory.getIntAcquire(granted);
      if (now - lastGranted < 0 || now - sent < 0) {
        throw new ProtocolViolation(
            Kind.CREDIT,
            "channel %d: %d bytes granted after %d, %d sent"
                .formatted(
                    id,
                    Integer.toUnsignedLong(now),
                    Integer.toUnsignedLong(lastGranted),
                    Integer.toUnsignedLong(sent)));
      }
      lastGranted = now;
      return now - sent;
    } catch (InternalError fault) {
      throw link.segment().lost(fault);
    }
  }

  /** Sends data if there is credit, without waiting. */
  // r[impl shm.bytes.what-counts]
  public SendResult send(byte[] bytes, int offset, int length) {
    if (length > window) {
      return SendResult.TOO_LARGE; // no grant could ever cover it
    }
    try {
      // The thread that learns of the peer's end takes this lock, too. So either it comes first, or
      // the message is counted among those that the peer reads before the id's next life.
      link.channels().lock().take();
      try {
        return sendNow(bytes, offset, length);
      } finally {
        link.channels().lock().end();
      }
    } catch (InternalError late) {
      throw link.segment().lost(late);
    }
  }

  private SendResult sendNow(byte[] bytes, int offset, int length) {
    if (isEnded()) {
      return SendResult.OVER;
    }
    if (length > 0 && remainingCredit() < length) {
      return SendResult.NO_CREDIT;
    }
    SendResult result = link.outbox().send(MessageKind.DATA, id, 0, bytes, offset, length);
    if (result == SendResult.SENT) {
      sent += length;
      if (!used) {
        used = true;
        afterFirst = link.outbox().counter();
      }
    }
    return result;
  }

  /**
   * Sends data, waiting for credit, space and a slot.
   *
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}
   */
  // r[impl shm.flow.zero-credit]
  public SendResult send(byte[] bytes, int offset, int length, long deadlineNanos) {
    while (true) {
      SendResult result = send(bytes, offset, length);
      Awaited awaited;
      switch (result) {
        case NO_CREDIT -> {
          link.outbox().publish(); // the peer grants no credit for what it cannot see
          awaited = awaitCredit(length, deadlineNanos);
        }
        case RING_FULL -> awaited = link.outbox().awaitSpace(deadlineNanos);
        case NO_SLOT -> awaited = link.outbox().awaitSlot(deadlineNanos);
        default -> {
          return result;
        }
      }
      if (awaited != Awaited.READY) {
        return awaited == Awaited.OVER ? SendResult.OVER : SendResult.TIMEOUT;
      }
    }
  }

  /**
   * Waits for credit for a number of bytes.
   *
   * @throws IllegalArgumentException if the receiver never allows that many bytes in flight
   */
  // r[impl shm.wakeup.credit-wait]
  public Awaited awaitCredit(int bytes, long deadlineNanos) {
    if (bytes > window) {
      throw new IllegalArgumentException(
          "%d bytes of credit never come: initial_credit is %d".formatted(bytes, window));
    }
    credit.needed = bytes;
    try {
      return waiter.await(credit, deadlineNanos);
    } catch (InternalError fault) {
      throw link.segment().lost(fault);
    }
  }

  /**
   * Called by the receiver after it has consumed bytes: allows the sender to send as many more. Has
   * no effect after the end of the channel.
   */
  // r[impl shm.flow.ordering.receiver]
  // r[impl shm.flow.granted-total]
  // r[impl shm.flow.counter-per-channel]
  // r[impl shm.flow.reset]
  public void grant(int bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("credit cannot be taken back: " + bytes);
    }
    try {
      if (bytes > 0 && link.channels().grant(this, bytes)) {
        wakeSenders();
      }
    } catch (InternalError fault) {
      throw link.segment().lost(fault);
    }
  }

  /** Wakes all threads that wait for credit; returns how many. */
  public int wakeSenders() {
    return Math.max(0, Futex.wake(link.segment().sys(), grantedWord, Integer.MAX_VALUE));
  }

  /**
   * Ends the channel, unless the peer has already done so. The peer is told by a message, for which
   * this waits for space in the ring. If the peer ended the id's previous life, this also waits
   * until it has read a message of the current one; otherwise it could not tell the two lives
   * apart.
   *
   * @return {@link SendResult#TIMEOUT} if the peer could not be told yet; then call this again
   * @param how {@link MessageKind#CLOSE} if the stream is complete, else {@link MessageKind#RESET}
   */
  public SendResult end(MessageKind how, long deadlineNanos) {
    if (how != MessageKind.CLOSE && how != MessageKind.RESET) {
      throw new IllegalArgumentException("a channel ends by Close or Reset, not by " + how);
    }
    if (!closed && endedByPeer && used) {
      Awaited seen = link.outbox().awaitRead(afterFirst, deadlineNanos);
      if (seen != Awaited.READY) {
        return seen == Awaited.OVER ? SendResult.OVER : SendResult.TIMEOUT;
      }
    }
    ended = true;
    if (!closed) {
      closed = link.segment().use(() -> link.channels().close(this));
      if (!closed) {
        return SendResult.OVER;
      }
      wakeSenders();
    }
    return link.outbox().send(how, id, 0, NO_BYTES, 0, 0, deadlineNanos);
  }

  /** Sets the longest sleep without a wake-up while waiting for credit, instead of 50 ms. */
  void sleepAtMost(long nanos) {
    waiter.sleepAtMost(nanos);
  }

  /** Starts the count of sent bytes elsewhere, as if {@code bytes} more had been sent. */
  void skip(int bytes) {
    sent += bytes;
  }

  /** Called when the peer has ended the channel. */
  void drop() {
    ended = true;
    wakeSenders();
  }

  private final class Credit implements Awaitable {
    private int needed;

    @Override
    public boolean isReady() {
      return !isEnded() && remainingCredit() >= needed;
    }

    @Override
    public boolean isOver() {
      return isEnded() || link.isOver();
    }

    @Override
    public MemorySegment word() {
      return grantedWord;
    }

    @Override
    public int arm() {
      VarHandle.fullFence();
      return memory.getIntAcquire(granted);
    }
  }
}
