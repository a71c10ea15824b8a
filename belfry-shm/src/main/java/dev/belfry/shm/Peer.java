package dev.belfry.shm;

import java.util.OptionalInt;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A guest, as its host sees it, from the ticket to its end. For any number of threads.
 *
 * <p>With a handler in its {@link PeerOptions} the host's loop hands its messages out, and threads
 * may do so in {@link #receiveUntil}. Without one, threads fetch them with {@link #receive} and
 * {@link #receiveBlocking}; what a guest had sent before its end can be fetched after it too.
 */
public final class Peer extends Messenger {
  private final ShmHost host;
  private final int id;
  private final PeerOptions options;
  private final PeerLife life;

  /** Open until the guest has attached, or never will. */
  private final CountDownLatch decided = new CountDownLatch(1);

  /** What was still in the ring, unfetched, when the guest was gone. */
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

  /** The number of its entry, 1 to 255. */
  public int id() {
    return id;
  }

  /** Its name. */
  public String name() {
    return options.name();
  }

  /** Its process, if it is known. */
  public OptionalInt pid() {
    return life.pid();
  }

  /** Whether it is attached and nothing tells of its end. */
  public boolean isAttached() {
    return life.isAttached();
  }

  /** How many messages the guest was sent and has not read yet. */
  public int backlog() {
    return ring(Ring::depth);
  }

  /**
   * How many messages the guest was sent, modulo 2^32; once {@link #readCount} is no less, it has
   * read them.
   */
  public int sentCount() {
    return ring(Ring::head);
  }

  /** How many messages the guest says it has read, modulo 2^32. */
  public int readCount() {
    return ring(Ring::tail);
  }

  private int ring(ToIntFunction<Ring> figure) {
    Ring ring = exchange().link().outbox().ring();
    return host.segment().use(() -> figure.applyAsInt(ring));
  }

  /** How many unread messages there can be. */
  public int ringCapacity() {
    return exchange().link().outbox().ring().capacity();
  }

  /** How many of the guest's own slots hold what it has sent and nobody has read. */
  public int slotsUsed() {
    return host.segment().use(() -> host.segment().slotsUsed(id));
  }

  /**
   * Waits until the guest has attached; not on the loop.
   *
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}
   * @return {@code OVER} if it never will, or has ended since
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

  /** Says {@code NOT_ATTACHED} as long as the guest may still come. */
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

  /** The guest is ended. */
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
    // Asking for the end first also shows whether it was a fault that left nothing to receive.
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
   * Lets this thread hand the guest's messages to its handler, if nobody does just now: for callers
   * that would rather look for an answer than be woken by the loop. Doing so before sending a
   * request spares the guest the ring. Not on the loop; {@link #endReceiving} ends it, on the same
   * thread. The handler itself cannot: its caller does so already.
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
   * Hands the guest's messages out, after {@link #tryReceiving}, until a condition holds.
   *
   * @param done tested between batches, so that a few more messages may be handed out once it holds
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}
   * @return {@code OVER} if the condition does not hold and nothing more will come this way
   * @throws IllegalStateException if this thread has not begun to receive
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
   * Hands the guest's messages out, after {@link #tryReceiving}, until a condition holds or none
   * has come for a moment; about as long as the answer of a guest that is awake takes. Neither
   * sleeps nor lets other threads run.
   *
   * @param done as for {@link #receiveUntil}
   * @throws IllegalStateException if this thread has not begun to receive
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
   * Ends {@link #tryReceiving} while nothing is expected of the guest. The guest does not announce
   * what it sends after this, which is cheaper for both, until {@link #listen} or another {@link
   * #endReceiving}; a round of the host finds it all the same, though not at once.
   */
  public void endReceivingDeaf() {
    if (exchange().receiving().endReceivingDeaf()) {
      listen();
    }
  }

  /** Has the loop listen to the guest again, after {@link #endReceivingDeaf}. */
  public void listen() {
    host.post(life::pump);
  }

  /** Ends {@link #tryReceiving}, and leaves the guest's messages to the loop again. */
  public void endReceiving() {
    PeerMessages messages = life.messages();
    try {
      int budget = host.budget();
      if (exchange().receiving().endReceiving(messages.handler(), messages.scratch(), budget)
          == budget) {
        host.post(life::pump); // no bell announces what is left
      }
    } catch (ProtocolViolation e) {
      violated(e);
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * Ends the guest: tells it why, as far as there is room for that, and kills its process if the
   * host has started it. Otherwise the guest can read that, and its entry is free when it has left
   * or its process has ended. If nobody has come or was started yet, its ticket is given back. Any
   * thread.
   */
  public void disconnect(String reason) {
    host.disconnect(life, reason);
  }

  /**
   * Takes the caller's word that this guest's process has ended, and frees what it held once what
   * it had sent is delivered. For guests whose end nobody reports: those of other makes that have
   * walked into a segment of format 1. If the process is known after all, this is {@link
   * #disconnect}, and its entry is free when it has really ended. Any thread.
   *
   * <p><b>The caller must be certain.</b> A guest that lives on could still write into an entry
   * that is another's by then.
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

  /** The guest has attached, or never will. */
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
