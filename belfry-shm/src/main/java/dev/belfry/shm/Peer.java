package dev.belfry.shm;

import java.util.OptionalInt;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A guest as its host sees it, from the ticket to its end. Safe for use by any number of threads.
 *
 * <p>If its {@link PeerOptions} have a handler, the host's loop hands out its messages, and threads
 * may do so in {@link #receiveUntil}. Otherwise threads fetch them with {@link #receive} and {@link
 * #receiveBlocking}; messages that a guest sent before its end can still be fetched afterwards.
 */
public final class Peer extends Messenger {
  private final ShmHost host;
  private final int id;
  private final PeerOptions options;
  private final PeerLife life;

  /** Counted down when the guest has attached, or never will. */
  private final CountDownLatch decided = new CountDownLatch(1);

  /** Messages still in the ring, not fetched, when the guest was gone. */
  private final ConcurrentLinkedQueue<Message> kept = new ConcurrentLinkedQueue<>();

  Peer(ShmHost host, int id, PeerOptions options, @Nullable Doorbell bell) {
    super(
        new Exchange(
            Link.toGuest(host.segment(), id, options.strategy(), bell, options.handler() != null),
            null,
            host::isLoopThread));
    this.host = host;
    this.id = id;
    this.options = options;
    this.life = new PeerLife(host, this);
  }

  /** The number of the guest's entry, 1 to 255. */
  public int id() {
    return id;
  }

  /** The guest's name. */
  public String name() {
    return options.name();
  }

  /** The guest's process id, if known. */
  public OptionalInt pid() {
    return life.pid();
  }

  /** Whether the guest is attached and nothing has reported its end. */
  public boolean isAttached() {
    return life.isAttached();
  }

  /** The number of messages that were sent to the guest and that it has not read yet. */
  public int backlog() {
    return ring(Ring::depth);
  }

  /**
   * The number of messages sent to the guest, modulo 2^32. The guest has read them all once {@link
   * #readCount} has reached this value.
   */
  public int sentCount() {
    return ring(Ring::head);
  }

  /** The number of messages that the guest claims to have read, modulo 2^32. */
  public int readCount() {
    return ring(Ring::tail);
  }

  private int ring(ToIntFunction<Ring> figure) {
    Ring ring = exchange().link().outbox().ring();
    return host.segment().use(() -> figure.applyAsInt(ring));
  }

  /** The largest possible number of unread messages. */
  public int ringCapacity() {
    return exchange().link().outbox().ring().capacity();
  }

  /** The number of the guest's own slots that hold messages not read by the host yet. */
  public int slotsUsed() {
    return host.segment().use(() -> host.segment().slotsUsed(id));
  }

  /**
   * Waits until the guest has attached. Must not be called on the loop thread.
   *
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}
   * @return {@code OVER} if the guest will never attach, or has ended since
   */
  public Awaited awaitAttached(long deadlineNanos) {
    boolean interrupted = false;
    while (decided.getCount() > 0 && !Deadlines.isOver(deadlineNanos)) {
      host.checkMayBlock();
      try {
        boolean _ = decided.await(Deadlines.restNanos(deadlineNanos), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (decided.getCount() > 0) {
      return Awaited.TIMEOUT;
    }
    return isAttached() ? Awaited.READY : Awaited.OVER;
  }

  @Override
  Awaited awaitPartner(long deadlineNanos) {
    return decided.getCount() == 0 ? Awaited.READY : awaitAttached(deadlineNanos);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Returns {@code NOT_ATTACHED} as long as the guest may still attach.
   */
  @Override
  public SendResult send(
      MessageKind kind,
      long id,
      long methodId,
      byte[] prefix,
      byte[] bytes,
      int offset,
      int length) {
    SendResult result = super.send(kind, id, methodId, prefix, bytes, offset, length);
    return result == SendResult.OVER && decided.getCount() > 0 ? SendResult.NOT_ATTACHED : result;
  }

  /** Throws the guest out. */
  @Override
  void violated(ProtocolViolation violation) {
    host.violated(life, violation);
  }

  @Override
  public boolean receive(Message into) {
    checkNoHandler();
    return super.receive(into);
  }

  @Override
  public Awaited receiveBlocking(Message into, long deadlineNanos) {
    checkNoHandler();
    return super.receiveBlocking(into, deadlineNanos);
  }

  @Override
  boolean receiveKept(Message into) {
    // Tests for the end first: this also reports a fault, which would leave nothing to receive.
    Message next = exchange().link().isOver() ? kept.poll() : null;
    if (next == null) {
      return false;
    }
    System.arraycopy(next.bytes(), 0, into.room(next.length()), 0, next.length());
    into.set(next.kind(), (int) next.id(), next.methodId(), next.length());
    into.setChannelState(next.channelState());
    return true;
  }

  private void checkNoHandler() {
    if (options.handler() != null) {
      throw new IllegalStateException(this + " has a handler, which gets its messages");
    }
  }

  /**
   * Takes over the handing out of this guest's messages to its handler, unless another thread is
   * doing so already. For callers that would rather poll for an answer than be woken by the loop;
   * taking over before sending a request saves the guest a ring of the bell. Must not be called on
   * the loop thread, nor by the handler itself, whose caller has already taken over. Release with
   * {@link #endReceiving} on the same thread.
   */
  public boolean tryReceiving() {
    if (options.handler() == null) {
      throw new IllegalStateException(this + " has no handler");
    }
    try {
      return exchange().receiving().tryReceiving();
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * After {@link #tryReceiving}, hands out the guest's messages until a condition holds.
   *
   * @param done tested between batches, so a few more messages may be handed out after it holds
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}
   * @return {@code OVER} if the condition does not hold and no more messages will come
   * @throws IllegalStateException if this thread has not taken over
   */
  public Awaited receiveUntil(BooleanSupplier done, long deadlineNanos) {
    try {
      PeerMessages messages = life.messages();
      return exchange()
          .receiving()
          .receiveUntil(done, messages.handler(), messages.scratch(), deadlineNanos);
    } catch (ProtocolViolation e) {
      violated(e);
      return done.getAsBoolean() ? Awaited.READY : Awaited.OVER;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * After {@link #tryReceiving}, hands out the guest's messages until a condition holds, or until
   * none has arrived for about as long as a guest that is awake takes to answer. Neither sleeps nor
   * yields.
   *
   * @param done as for {@link #receiveUntil}
   * @throws IllegalStateException if this thread has not taken over
   */
  public void receiveBriefly(BooleanSupplier done) {
    try {
      PeerMessages messages = life.messages();
      exchange().receiving().receiveBriefly(done, messages.handler(), messages.scratch());
    } catch (ProtocolViolation e) {
      violated(e);
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * Ends {@link #tryReceiving} at a time when nothing is expected of the guest. From here on the
   * guest does not ring for what it sends, which is cheaper for both sides, until {@link #listen}
   * or another {@link #endReceiving}. The host's rounds still find such messages, only later.
   */
  public void endReceivingDeaf() {
    if (exchange().receiving().endReceivingDeaf()) {
      listen();
    }
  }

  /** Makes the loop listen to the guest again, after {@link #endReceivingDeaf}. */
  public void listen() {
    host.post(life::pump);
  }

  /** Ends {@link #tryReceiving} and hands the guest's messages back to the loop. */
  public void endReceiving() {
    PeerMessages messages = life.messages();
    try {
      int budget = host.budget();
      if (exchange().receiving().endReceiving(messages.handler(), messages.scratch(), budget)
          == budget) {
        host.post(life::pump); // no ring announces the rest
      }
    } catch (ProtocolViolation e) {
      violated(e);
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * Disconnects the guest: sends it the reason, if there is room, and kills its process if the host
   * has spawned it. A guest that the host has not spawned can read the reason; its entry becomes
   * free when it has left or its process has ended. If no guest has been spawned or has attached
   * yet, the ticket is taken back. Any thread.
   */
  public void disconnect(String reason) {
    host.disconnect(life, reason);
  }

  /**
   * Takes the caller's word that this guest's process has ended: delivers what it sent, then
   * reclaims what it held. For guests whose end nothing reports, namely foreign ones that walked
   * into a segment of format 1. If the process is known after all, this is {@link #disconnect}, and
   * the entry becomes free when the process has really ended. Any thread.
   *
   * <p><b>The caller must be certain.</b> A guest that is still alive could write into an entry
   * that belongs to another guest by then.
   */
  public void declareGone() {
    host.post(life::declareGone);
  }

  ShmHost host() {
    return host;
  }

  PeerOptions options() {
    return options;
  }

  PeerLife life() {
    return life;
  }

  /** Called when the guest has attached, or never will. */
  void decide() {
    decided.countDown();
  }

  void keep(Message message) {
    kept.add(message);
  }

  @Override
  public String toString() {
    return "%s (peer %d)".formatted(options.name(), id);
  }
}
