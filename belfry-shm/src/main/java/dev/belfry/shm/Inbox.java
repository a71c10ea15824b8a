package dev.belfry.shm;

import dev.belfry.shm.ProtocolViolation.Kind;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a link. One thread at a time. Allocates nothing, except that a message
 * grows with the largest payload it has held.
 *
 * <p>Whatever the peer has written is copied once and validated before use. The first violation
 * ends this half: every later call throws it again.
 */
public final class Inbox extends LinkHalf {
  private final SlotReader slots;
  private final Data data = new Data();

  /** Our counter, that of the next message. Written to shared memory, never read back. */
  private int tail;

  /** Messages before this counter are known to be there. */
  private int seen;

  /** The tail as last stored for the peer. */
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
   * @return whether there was one; if not, {@link Link#isOver} tells whether more can come
   * @throws ProtocolViolation if the peer has violated the protocol
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
   * Receives the messages that are there, and stores the tail once. Bytes are copied only on the
   * handler's demand.
   *
   * @param scratch holds one message after the other
   * @param limit the maximum number of messages
   * @return the number of messages
   * @throws ProtocolViolation as {@link #receive} does; messages handed out before count
   */
  public int receive(Handler handler, Message scratch, int limit) {
    int count = 0;
    try {
      try {
        while (count < limit && take(scratch)) {
          count++;
          handler.onMessage(scratch);
        }
      } catch (ProtocolViolation wrong) { // in the bytes, or found by the handler
        violation = wrong;
        throw wrong;
      } finally {
        scratch.giveBack();
        consume(false);
      }
    } catch (InternalError fault) { // may surface as late as the handler's return
      throw segment.lost(fault);
    }
    return count;
  }

  /** Receives messages one after the other. */
  @FunctionalInterface
  public interface Handler {
    /** Called for each message, which is refilled after this returns. */
    void onMessage(Message message);
  }

  /**
   * Receives a message, waiting for one.
   *
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}
   * @throws ProtocolViolation if the peer has violated the protocol
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

  /** Whether there is a message, or one arrives within a moment; spins without yielding. */
  boolean hasDataSoon() {
    return isReadySoon(data);
  }

  /** Takes the next message; its bytes stay where they are until {@link #consume}. */
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
   * The number of messages known to be there. A guest that has lost its entry must not touch memory
   * that may belong to another guest; one that has left checks this every time.
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
   * Whether slots that were read can be kept until the next message is read, too: that message is
   * there already, and no sender waits for a slot. Giving slots back one by one would stall the
   * reader, because each atomic update of the bitmap waits for its cache line.
   */
  private boolean mayKeepSlots() {
    return slots.mayKeepSome() && ring.isSenderAwake() && available() != 0;
  }

  /**
   * Gives slots back and stores the tail. Not after a guest has left: no sender waits for its
   * space, and the tail may belong to another guest.
   */
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

  /** Makes the peer ring for what it sends from now on. */
  void listen() {
    try {
      ring.armDataAtBell();
    } catch (InternalError fault) {
      throw segment.lost(fault);
    }
  }

  /** Spares the peer from ringing: a thread polls from now on. */
  void attend() {
    try {
      ring.receiverAwake();
    } catch (InternalError fault) {
      throw segment.lost(fault);
    }
  }

  /** Wakes all senders that wait for space at the other end; returns how many. */
  public int wakeProducers() {
    return ring.wakeProducers();
  }

  /** Wakes all senders that wait for a slot at the other end; returns how many. */
  public int wakeSlotWaiters() {
    return ring.wakeProducers(); // they sleep on the same word
  }

  /** The number of messages received, modulo 2^32. */
  int counter() {
    return tail;
  }

  /** Starts the counters elsewhere, as if {@code counter} messages had gone before. */
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
