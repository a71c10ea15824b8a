package dev.belfry.shm;

import dev.belfry.shm.ProtocolViolation.Kind;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a link. For one thread at a time. Allocates nothing, except that a message
 * grows with the largest payload it has held.
 *
 * <p>What the peer has written is copied once and checked before it is used. The first violation
 * ends this half: it is thrown again by every call from then on.
 */
public final class Inbox extends LinkHalf {
  private final SlotReader slots;
  private final Data data = new Data();

  /** Our counter: the next message has it. Only written to shared memory, never read back. */
  private int tail;

  /** Up to where messages are known to be there. */
  private int seen;

  /** Up to where the peer was told that we have read. */
  private int consumed;

  /** Whether a slot was given back since then. */
  private boolean slotFreed;

  private @Nullable ProtocolViolation violation;

  Inbox(Link link, Ring ring, SlotReader slots, WaitStrategy strategy) {
    super(link, ring, strategy);
    this.slots = slots;
    if (neverSleeps() && !link.isListenedTo()) {
      ring.receiverSpins();
    }
  }

  /**
   * Receives a message, if there is one.
   *
   * @return whether there was; if not, {@link Link#isOver} tells whether one may still come
   * @throws ProtocolViolation if the peer has written what a correct one cannot
   */
  public boolean receive(Message into) {
    try {
      boolean received = take(into);
      if (received) {
        copyBytes(into);
        consume(mayKeepSlots());
      }
      return received;
    } catch (InternalError fault) {
      throw segment.lost(fault);
    }
  }

  /**
   * Receives the messages that are there, and tells the peer once. Their bytes are copied only if
   * the handler asks for them.
   *
   * @param scratch holds one message after the other
   * @param limit how many at most
   * @return how many
   * @throws ProtocolViolation as {@link #receive} does; what was handed out before counts
   */
  public int receive(Handler handler, Message scratch, int limit) {
    int count = 0;
    try {
      try {
        while (count < limit && take(scratch)) {
          count++;
          handler.onMessage(scratch);
        }
      } catch (ProtocolViolation wrong) { // in the bytes, or what the handler makes of them
        violation = wrong;
        throw wrong;
      } finally {
        scratch.giveBack();
        consume(false);
      }
    } catch (InternalError fault) { // it may come as late as when the handler returns
      throw segment.lost(fault);
    }
    return count;
  }

  /** Gets messages one after the other. */
  @FunctionalInterface
  public interface Handler {
    /** Called for each; the message is filled anew afterwards. */
    void onMessage(Message message);
  }

  /**
   * Receives a message, waiting for one if need be.
   *
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}
   * @throws ProtocolViolation if the peer has written what a correct one cannot
   */
  public Awaited receive(Message into, long deadlineNanos) {
    try {
      while (!receive(into)) {
        Awaited awaited = awaitData(deadlineNanos);
        if (awaited != Awaited.READY) {
          return awaited;
        }
      }
      return Awaited.READY;
    } catch (InternalError late) {
      throw segment.lost(late);
    }
  }

  /** Waits until there is a message. */
  public Awaited awaitData(long deadlineNanos) {
    return await(data, deadlineNanos);
  }

  /** Whether there is a message, or comes one within a moment, in which nobody else is let run. */
  boolean hasDataSoon() {
    return isReadySoon(data);
  }

  /** The bytes stay where they are until {@link #consume}. */
  private boolean take(Message into) {
    try {
      if (violation != null) {
        throw violation;
      }
      int available = available();
      if (available == 0) {
        return false;
      }
      seen = tail + available;
      read(ring.descriptor(tail), into);
      tail++;
      return true;
    } catch (ProtocolViolation wrong) {
      violation = wrong;
      throw wrong;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private void copyBytes(Message message) {
    try {
      message.bytes();
    } catch (ProtocolViolation wrong) {
      violation = wrong;
      throw wrong;
    }
  }

  /**
   * How many messages are known to be there. A guest whose entry was taken away must not touch what
   * may be another's by now; one that has left looks each time whether that is so.
   */
  private int available() {
    int known = seen - tail;
    if (known != 0 && !link.hasLeft()) {
      return known;
    }
    if (link.isEntryLost()) {
      return 0;
    }
    return known != 0 ? known : ring.available(tail);
  }

  private void read(long descriptor, Message into) {
    long first = memory.getLong(descriptor);
    long methodId = MessageDescriptor.methodId(memory, descriptor);
    long slotAndGeneration = MessageDescriptor.slotAndGeneration(memory, descriptor);
    long offsetAndLength = MessageDescriptor.offsetAndLength(memory, descriptor);
    MessageKind kind = MessageKind.of(MessageDescriptor.kindNumber(first));
    if (kind == null) {
      throw new ProtocolViolation(
          Kind.MESSAGE_KIND, "a message of the kind " + MessageDescriptor.kindNumber(first));
    }
    int slot = (int) slotAndGeneration;
    int generation = (int) (slotAndGeneration >>> 32);
    int offset = (int) offsetAndLength;
    int length = (int) (offsetAndLength >>> 32);
    into.set(kind, MessageDescriptor.id(first), methodId, length);
    if (slot == MessageDescriptor.INLINE_SLOT) {
      if (generation != 0 || offset != 0) {
        throw new ProtocolViolation(
            Kind.INLINE_FIELDS, "an inline message has a generation or an offset");
      }
      if (Integer.compareUnsigned(length, inlineBytes) <= 0) {
        MessageDescriptor.readInline(memory, descriptor, into.bytes(), length);
      } else if (Integer.compareUnsigned(length, mostInPocket) <= 0) {
        into.lend(memory, ring.pocket(tail));
      } else {
        throw new ProtocolViolation(
            Kind.PAYLOAD_LENGTH,
            "an inline message of %d bytes".formatted(Integer.toUnsignedLong(length)));
      }
    } else {
      slots.lend(slot, generation, offset, length, into);
      slotFreed = true;
    }
    if (kind.usesChannelId()) {
      into.setChannelState(link.channels().peek(MessageDescriptor.id(first)));
    }
  }

  /**
   * Whether the slots that were read can wait until the next message was read too: it is there
   * already, and no sender sleeps for want of a slot. To give them back one by one would hold up
   * the reading, because an atomic change of the bitmap waits for its line.
   */
  private boolean mayKeepSlots() {
    return slots.mayKeepSome() && ring.isSenderAwake() && available() != 0;
  }

  /** Nobody waits for the space of a guest that has left, and the tail may be another's by now. */
  private void consume(boolean keepSlots) {
    if (tail == consumed || link.hasLeft()) {
      return;
    }
    try {
      if (!keepSlots) {
        slots.giveBack();
      }
      ring.consume(consumed, tail, slotFreed);
      consumed = tail;
      slotFreed = false;
    } catch (ProtocolViolation wrong) {
      violation = wrong;
      throw wrong;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** From now on the peer rings for what it sends. */
  void listen() {
    try {
      ring.armDataAtBell();
    } catch (InternalError fault) {
      throw segment.lost(fault);
    }
  }

  /** From now on the peer need not ring: somebody looks. */
  void attend() {
    try {
      ring.receiverAwake();
    } catch (InternalError fault) {
      throw segment.lost(fault);
    }
  }

  /** Wakes all who wait for space at the other end; returns how many. */
  public int wakeProducers() {
    return ring.wakeProducers();
  }

  /** Wakes all who wait for a slot at the other end; returns how many. */
  public int wakeSlotWaiters() {
    return ring.wakeProducers(); // they sleep at the same place
  }

  /** How many messages were received, modulo 2^32. */
  int counter() {
    return tail;
  }

  /** Lets the counters start elsewhere, as if that many messages had gone before. */
  void startAt(int counter) {
    tail = counter;
    seen = counter;
    consumed = counter;
  }

  private final class Data implements Awaitable {
    @Override
    public boolean isReady() {
      return available() != 0;
    }

    @Override
    public boolean isOver() {
      return violation != null || link.isOver();
    }

    @Override
    public MemorySegment word() {
      return ring.dataWord();
    }

    @Override
    public int arm() {
      return ring.armData();
    }
  }
}
