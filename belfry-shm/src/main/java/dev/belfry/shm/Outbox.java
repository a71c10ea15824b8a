package dev.belfry.shm;

import java.lang.ref.Reference;
import java.util.Objects;

/**
 * The sending half of a link. Payloads of up to 32 bytes (96 in the padded placement) travel in the
 * descriptor; larger ones in a slot or, in the padded placement, in a pocket if they fit. One
 * thread at a time. Allocates nothing.
 *
 * {@snippet :
 * SendResult result = outbox.send(MessageKind.REQUEST, 7, method, bytes, 0, bytes.length);
 * }
 *
 * <p>To send a batch at a lower cost, {@link #stage} each message, then {@link #publish} once.
 */
// r[impl shm.payload.encoding]
// r[impl shm.scope]
// r[impl shm.placement.pockets]
public final class Outbox extends LinkHalf {
  private static final long MAX_U32 = 0xffff_ffffL;
  static final byte[] NO_PREFIX = new byte[0];

  /** How long to sleep for an event that the peer does not announce. */
  private static final long UNTOLD_SLEEP_NANOS = 1_000_000;

  private final SlotSource slots;
  private final int maxPayload;
  private final int capacity;
  private final int pocketCount;
  private final Awaitable space;
  private final Awaitable slot;
  private final Unread read;

  /** Joins the prefix and the bytes of an inline message. */
  private final byte[] joined = new byte[MessageDescriptor.MAX_INLINE_BYTES];

  /** Our counter, that of the next message. Written to shared memory, never read back. */
  private int head;

  /** The head as last stored for the peer. */
  private int published;

  /** The peer's counter as last seen; read again when the ring seems full. */
  private int tail;

  private long slotShortages;

  /** Whether the message that last found no slot can also go in a pocket, once that is free. */
  private boolean fitsPocket;

  Outbox(Link link, Ring ring, SlotSource slots, WaitStrategy strategy) {
    super(link, ring, strategy);
    this.slots = slots;
    this.maxPayload = segment.config().maxPayloadSize();
    this.capacity = ring.capacity();
    this.pocketCount = segment.layout().pocketCount();
    this.space = new Unread(capacity - 1);
    this.slot = slots.shortage(link, ring, () -> fitsPocket && ring.unread(head) < pocketCount);
    this.read = new Unread(0);
    if (neverSleeps()) {
      ring.senderSpins();
    }
  }

  /**
   * Sends a message, without waiting.
   *
   * @param id a request or channel id, 0 to 2^32 - 1
   * @param methodId the method of a request, else 0
   */
  public SendResult send(
      MessageKind kind, long id, long methodId, byte[] bytes, int offset, int length) {
    return send(kind, id, methodId, NO_PREFIX, bytes, offset, length);
  }

  /**
   * Sends a message in two parts, without waiting; spares the caller from joining them.
   *
   * @param prefix bytes that precede the others
   */
  public SendResult send(
      MessageKind kind,
      long id,
      long methodId,
      byte[] prefix,
      byte[] bytes,
      int offset,
      int length) {
    try {
      SendResult result = stage(kind, id, methodId, prefix, bytes, offset, length);
      if (result == SendResult.SENT) {
        publish();
      }
      return result;
    } catch (InternalError late) {
      throw segment.lost(late);
    }
  }

  /** Like {@link #send}, but the peer need not see the message before {@link #publish}. */
  // r[impl shm.id.request-id]
  // r[impl shm.id.channel-id]
  // r[impl shm.ring.full]
  // r[impl shm.payload.slot]
  public SendResult stage(
      MessageKind kind, long id, long methodId, byte[] bytes, int offset, int length) {
    return stage(kind, id, methodId, NO_PREFIX, bytes, offset, length);
  }

  private SendResult stage(
      MessageKind kind,
      long id,
      long methodId,
      byte[] prefix,
      byte[] bytes,
      int offset,
      int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (id < 0 || id > MAX_U32) {
      throw new IllegalArgumentException("ids are 0 to 2^32 - 1, not " + id);
    }
    try {
      if (link.isOver()) {
        return SendResult.OVER;
      }
      if (!isUnreadBelow(capacity)) {
        return SendResult.RING_FULL;
      }
      int counter = head;
      long descriptor = ring.descriptor(counter);
      int prefixed = prefix.length;
      if (length <= inlineBytes - prefixed) {
        writeInline(descriptor, methodId, prefix, bytes, offset, length);
      } else if (length > maxPayload - prefixed) {
        return SendResult.TOO_LARGE;
      } else if (length <= mostInPocket - prefixed && isUnreadBelow(pocketCount)) {
        write(ring.pocket(counter), prefix, bytes, offset, length);
        MessageDescriptor.writeFields(
            memory, descriptor, methodId, MessageDescriptor.INLINE_SLOT, 0, prefixed + length);
      } else {
        int slot = slots.allocate();
        if (slot < 0) {
          slotShortages++;
          fitsPocket = length <= mostInPocket - prefixed;
          return SendResult.NO_SLOT;
        }
        long address = slots.address(slot);
        int generation = slots.generation(slot);
        memory.setInt(address, generation);
        // r[impl shm.slot.payload-offset]
        write(address + SegmentConfig.GENERATION_BYTES, prefix, bytes, offset, length);
        MessageDescriptor.writeFields(
            memory, descriptor, methodId, slot, generation, prefixed + length);
      }
      memory.setLongRelease(
          descriptor, MessageDescriptor.firstWord(kind, ring.lapMark(counter), (int) id));
      head = counter + 1;
      return SendResult.SENT;
    } catch (InternalError fault) {
      throw segment.lost(fault);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private void writeInline(
      long descriptor, long methodId, byte[] prefix, byte[] bytes, int offset, int length) {
    int prefixed = prefix.length;
    if (prefixed == 0) {
      MessageDescriptor.writeInline(memory, descriptor, methodId, bytes, offset, length);
    } else {
      System.arraycopy(prefix, 0, joined, 0, prefixed);
      System.arraycopy(bytes, offset, joined, prefixed, length);
      MessageDescriptor.writeInline(memory, descriptor, methodId, joined, 0, prefixed + length);
    }
  }

  private void write(long address, byte[] prefix, byte[] bytes, int offset, int length) {
    if (prefix.length > 0) {
      memory.write(address, prefix, 0, prefix.length);
    }
    memory.write(address + prefix.length, bytes, offset, length);
  }

  /** Makes all staged messages visible, and wakes the peer if it sleeps. */
  public void publish() {
    if (head == published) {
      return;
    }
    try {
      ring.publish(published, head);
      published = head;
    } catch (InternalError fault) {
      throw segment.lost(fault);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Whether fewer than {@code limit} messages are unread. */
  private boolean isUnreadBelow(int limit) {
    if (head - tail < limit) {
      return true;
    }
    tail = head - ring.unread(head);
    return head - tail < limit;
  }

  /**
   * Sends a message, waiting for space in the ring and for a slot.
   *
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}
   */
  // r[impl shm.slot.exhaustion]
  public SendResult send(
      MessageKind kind,
      long id,
      long methodId,
      byte[] bytes,
      int offset,
      int length,
      long deadlineNanos) {
    try {
      while (true) {
        SendResult result = send(kind, id, methodId, bytes, offset, length);
        if (result != SendResult.RING_FULL && result != SendResult.NO_SLOT) {
          return result;
        }
        Awaited awaited =
            result == SendResult.RING_FULL ? awaitSpace(deadlineNanos) : awaitSlot(deadlineNanos);
        if (awaited != Awaited.READY) {
          return awaited == Awaited.OVER ? SendResult.OVER : SendResult.TIMEOUT;
        }
      }
    } catch (InternalError late) {
      throw segment.lost(late);
    }
  }

  /** Waits until the ring has space for a message. Publishes staged messages first. */
  public Awaited awaitSpace(long deadlineNanos) {
    publish(); // the peer can read only what it sees
    return await(space, deadlineNanos);
  }

  /**
   * Waits until there is a slot, or a pocket if that will do, for the message that found none.
   * Publishes staged messages first.
   */
  public Awaited awaitSlot(long deadlineNanos) {
    publish();
    return await(slot, deadlineNanos);
  }

  /** Waits until the peer has read everything. Publishes staged messages first. */
  public Awaited awaitAllRead(long deadlineNanos) {
    return awaitRead(head, deadlineNanos);
  }

  /** Waits until the peer has read up to a counter. */
  Awaited awaitRead(int counter, long deadlineNanos) {
    publish();
    read.mostUnread = head - counter;
    return await(read, deadlineNanos);
  }

  /**
   * Space in the ring, for waiters that do not have the sender's turn and so rely on both counters
   * in shared memory: a hint. One instance for each waiter.
   */
  Awaitable anySpace() {
    return new TailWait(link, ring) {
      @Override
      public boolean isReady() {
        return ring.depth() < capacity;
      }
    };
  }

  /**
   * A slot or a pocket for the message that last found none; likewise a hint, because another
   * thread's message may have found none since then.
   */
  Awaitable anySlot() {
    boolean pocketWillDo = fitsPocket;
    return slots.shortage(link, ring, () -> pocketWillDo && ring.depth() < pocketCount);
  }

  /** Wakes all receivers that wait for messages at the other end; returns how many. */
  public int wakeConsumers() {
    return ring.wakeConsumers();
  }

  /**
   * Whether ringing for published messages has shown that the peer is dead. They still count as
   * sent. A side that rings only for sleepers, or has no bell, may never find out.
   */
  public boolean isPeerDead() {
    return ring.isPeerDead();
  }

  /** How often a large message found no slot. */
  public long slotShortages() {
    return slotShortages;
  }

  /** The number of messages sent, modulo 2^32. */
  int counter() {
    return head;
  }

  /** Starts the counters elsewhere, as if {@code counter} messages had gone before. */
  void startAt(int counter) {
    head = counter;
    published = counter;
    tail = counter;
  }

  /** Waits until the tail is close enough to the head. */
  private final class Unread extends TailWait {
    private int mostUnread;

    Unread(int mostUnread) {
      super(link, ring);
      this.mostUnread = mostUnread;
    }

    @Override
    public boolean isReady() {
      return ring.unread(head) <= mostUnread;
    }

    /**
     * In format 1 reading is announced only when a sender might wait for the space: any other
     * waiter polls.
     */
    @Override
    public WaitResult sleep(FutexWait futex, int expected, long untilNanos) {
      if (this == space || ring.tellsOfEveryMessage()) {
        return super.sleep(futex, expected, untilNanos);
      }
      long soon = System.nanoTime() + UNTOLD_SLEEP_NANOS;
      WaitResult slept = super.sleep(futex, expected, Deadlines.earlier(untilNanos, soon));
      return slept == WaitResult.TIMEOUT ? WaitResult.CHANGED : slept; // not a missed wake-up
    }
  }
}
