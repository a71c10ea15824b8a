package dev.belfry.shm;

import static dev.belfry.shm.SendResult.NO_CREDIT;
import static dev.belfry.shm.SendResult.NO_SLOT;
import static dev.belfry.shm.SendResult.RING_FULL;

import dev.belfry.linux.ErrnoException;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A link for any number of threads. Senders take turns, and so do receivers. Who waits for the peer
 * keeps its turn; who must not wait is told at once why it would have to.
 */
final class Exchange {
  /** How long somebody may have to wait for a turn that is about to end. */
  private static final long SHORT_TURN_NANOS = 50_000;

  /** How long a wait spins before it goes to the bell. */
  private static final long SPIN_NANOS = 100_000;

  /** How long to sleep at the bell of a peer that does not always ring. */
  private static final long SILENT_SLICE_NANOS = 1_000_000;

  private final Link link;
  private final Turn sending = new Turn();
  private final Turn receiving = new Turn();

  /** Where to sleep; null for the futex. */
  private final @Nullable Doorbell bell;

  /** What the sender whose turn it is waits for, or null. */
  private volatile @Nullable SendResult blocked;

  /** The entry may be another's by now; set with both turns taken, read with one. */
  private boolean ended;

  /** The peer has written without ringing. */
  private volatile boolean silent;

  /**
   * A link.
   *
   * @param bell where to sleep if the peer may not wake a futex, else null
   */
  Exchange(Link link, @Nullable Doorbell bell) {
    this.link = link;
    this.bell = bell;
  }

  Link link() {
    return link;
  }

  // Sending.

  SendResult send(MessageKind kind, long id, long methodId, byte[] bytes, int offset, int length) {
    SendResult obstacle = takeShortTurn();
    if (obstacle != null) {
      return obstacle;
    }
    try {
      return link.outbox().send(kind, id, methodId, bytes, offset, length);
    } finally {
      sending.end();
    }
  }

  /** Takes the turn of a sender; says what for if its owner waits for the peer. */
  private @Nullable SendResult takeShortTurn() {
    while (!sending.tryTake()) {
      SendResult waitedFor = blocked;
      if (waitedFor != null) {
        return waitedFor;
      }
      if (sending.take(System.nanoTime() + SHORT_TURN_NANOS)) {
        return null;
      }
    }
    return null;
  }

  SendResult sendBlocking(
      MessageKind kind,
      long id,
      long methodId,
      byte[] bytes,
      int offset,
      int length,
      long deadlineNanos) {
    if (!sending.take(deadlineNanos)) {
      return SendResult.TIMEOUT;
    }
    try {
      while (true) {
        SendResult result = link.outbox().send(kind, id, methodId, bytes, offset, length);
        SendResult settled = awaitRoom(result, deadlineNanos);
        if (settled != null) {
          return settled;
        }
      }
    } finally {
      blocked = null;
      sending.end();
    }
  }

  /** If there was no room, waits for it; null if sending is worth another try. */
  private @Nullable SendResult awaitRoom(SendResult result, long deadlineNanos) {
    if (result != RING_FULL && result != NO_SLOT) {
      return result;
    }
    blocked = result;
    Outbox outbox = link.outbox();
    return failure(
        await(result == RING_FULL ? outbox::awaitSpace : outbox::awaitSlot, deadlineNanos));
  }

  private static @Nullable SendResult failure(Awaited awaited) {
    return switch (awaited) {
      case READY -> null;
      case OVER -> SendResult.OVER;
      case TIMEOUT -> SendResult.TIMEOUT;
    };
  }

  /** Leaves: see {@link Link#leave}. */
  void leave(long deadlineNanos) {
    boolean turn = sending.take(deadlineNanos);
    try {
      // Without the turn somebody waits for a peer that does not read: no use in waiting too.
      link.leave(turn ? deadlineNanos : System.nanoTime());
    } finally {
      if (turn) {
        sending.end();
      }
    }
  }

  // Channels.

  /** Sends data on a channel. Who waits for credit lets others send meanwhile. */
  SendResult send(Channel channel, byte[] bytes, int offset, int length, long deadlineNanos) {
    while (true) {
      SendResult result = sendWithoutCreditWait(channel, bytes, offset, length, deadlineNanos);
      if (result != NO_CREDIT) {
        return result;
      }
      SendResult failure = failure(awaitCredit(channel, length, deadlineNanos));
      if (failure != null) {
        return failure;
      }
    }
  }

  /** Without a turn, so the entry may become another's meanwhile, and its credit be rubbish. */
  private Awaited awaitCredit(Channel channel, int length, long deadlineNanos) {
    try {
      return channel.awaitCredit(length, deadlineNanos);
    } catch (ProtocolViolation e) {
      if (link.isOver()) {
        return Awaited.OVER;
      }
      throw e;
    }
  }

  private SendResult sendWithoutCreditWait(
      Channel channel, byte[] bytes, int offset, int length, long deadlineNanos) {
    if (!sending.take(deadlineNanos)) {
      return SendResult.TIMEOUT;
    }
    try {
      while (!ended) {
        SendResult settled = awaitRoom(channel.send(bytes, offset, length), deadlineNanos);
        if (settled != null) {
          return settled;
        }
      }
      return SendResult.OVER;
    } finally {
      blocked = null;
      sending.end();
    }
  }

  /** Ends a channel; see {@link Channel#end}. */
  SendResult end(Channel channel, MessageKind how, long deadlineNanos) {
    if (!sending.take(deadlineNanos)) {
      return SendResult.TIMEOUT;
    }
    blocked = RING_FULL; // it may wait for the peer to read
    try {
      return ended ? SendResult.OVER : channel.end(how, deadlineNanos);
    } finally {
      blocked = null;
      sending.end();
    }
  }

  // Receiving.

  /** Receives a message if there is one and nobody else is receiving. */
  boolean receive(Message into) {
    if (!receiving.tryTake()) {
      return false;
    }
    try {
      return !ended && link.inbox().receive(into);
    } finally {
      receiving.end();
    }
  }

  Awaited receiveBlocking(Message into, long deadlineNanos) {
    if (!receiving.take(deadlineNanos)) {
      return Awaited.TIMEOUT;
    }
    try {
      Inbox inbox = link.inbox();
      if (ended) {
        return Awaited.OVER;
      }
      while (!inbox.receive(into)) {
        Awaited awaited = await(inbox::awaitData, deadlineNanos);
        if (awaited != Awaited.READY) {
          return awaited;
        }
      }
      return Awaited.READY;
    } finally {
      receiving.end();
    }
  }

  /**
   * Hands messages to a handler and then sleeps at the bell, for an event loop.
   *
   * @return how many; the limit if there may be more; -1 if another thread is receiving, which will
   *     do the same when it ends
   */
  int receiveAndListen(Inbox.Handler handler, Message scratch, int limit) {
    if (!receiving.tryTake()) {
      return -1;
    }
    try {
      if (ended) {
        return 0;
      }
      int count = link.inbox().receive(handler, scratch, limit);
      if (count < limit) {
        count += listen(handler, scratch, limit - count);
      }
      return count;
    } finally {
      receiving.end();
    }
  }

  /** From now on the peer rings; what it wrote before it knew is still taken. */
  private int listen(Inbox.Handler handler, Message scratch, int limit) {
    int count = 0;
    int some = limit;
    while (some > 0 && count < limit) {
      link.inbox().ring().armDataAtBell();
      some = link.inbox().receive(handler, scratch, limit - count);
      count += some;
    }
    return count;
  }

  /** Takes the receivers' turn if it is free; from now on the peer need not ring. */
  boolean tryReceiving() {
    if (!receiving.tryTake()) {
      return false;
    }
    if (ended) {
      receiving.end();
      return false;
    }
    link.inbox().ring().receiverAwake();
    return true;
  }

  /** Gives the turn back; nobody learns of what comes, until somebody listens. */
  void endReceivingDeaf() {
    receiving.end();
  }

  /** With the turn taken: hands messages to a handler until a condition holds, or a deadline. */
  Awaited receiveUntil(
      BooleanSupplier done, Inbox.Handler handler, Message scratch, long deadlineNanos) {
    Inbox inbox = link.inbox();
    while (!done.getAsBoolean()) {
      if (inbox.receive(handler, scratch, 1) == 0) {
        Awaited awaited = await(inbox::awaitData, deadlineNanos);
        if (awaited != Awaited.READY) {
          return done.getAsBoolean() ? Awaited.READY : awaited;
        }
      }
    }
    return Awaited.READY;
  }

  /**
   * Gives the turn back; what comes from now on is announced by the bell.
   *
   * @return how many messages were there on leaving; the limit if there may be more
   */
  int endReceiving(Inbox.Handler handler, Message scratch, int limit) {
    try {
      return listen(handler, scratch, limit);
    } finally {
      receiving.end();
    }
  }

  /**
   * Takes both turns, so that nobody touches the link until {@link #endQuiet}; false if somebody is
   * at it. For a link that is over: whoever waits is woken and leaves.
   */
  boolean tryQuiet() {
    if (!sending.tryTake()) {
      return false;
    }
    if (!receiving.tryTake()) {
      sending.end();
      return false;
    }
    return true;
  }

  /** From now on nobody touches the entry by this link; with both turns taken. */
  void end() {
    ended = true;
  }

  void endQuiet() {
    receiving.end();
    sending.end();
  }

  /** Wakes threads of ours that sleep on a futex, because the peer may only have rung. */
  void passRingOn() {
    if (receiving.isTaken()) {
      link.inbox().ring().wakeConsumers();
    }
    if (blocked != null) {
      link.outbox().ring().wakeProducers();
    }
  }

  // Waiting.

  private interface Wait {
    Awaited until(long deadlineNanos);
  }

  private Awaited await(Wait what, long deadlineNanos) {
    Doorbell sleepAt = bell;
    if (sleepAt == null) {
      return what.until(deadlineNanos);
    }
    boolean rung = true;
    while (true) {
      long heard = sleepAt.heard();
      long spin = Deadlines.earlier(deadlineNanos, System.nanoTime() + SPIN_NANOS);
      Awaited awaited = what.until(spin);
      if (awaited != Awaited.TIMEOUT || Deadlines.isOver(deadlineNanos)) {
        silent |= awaited == Awaited.READY && !rung;
        return awaited;
      }
      long slice = silent ? SILENT_SLICE_NANOS : Waiter.SLICE_NANOS;
      long until = Deadlines.earlier(deadlineNanos, System.nanoTime() + slice);
      rung = awaitBell(sleepAt, heard, until);
    }
  }

  /** Sleeps at the bell; false if nobody has rung. */
  private static boolean awaitBell(Doorbell bell, long heard, long untilNanos) {
    try {
      return switch (bell.awaitSince(heard, untilNanos)) {
        case SIGNAL -> true;
        case TIMEOUT -> false;
        case DEATH -> {
          // The lifeline ends the link in a moment; until then there is nothing to sleep at.
          LockSupport.parkNanos(SILENT_SLICE_NANOS);
          yield true;
        }
      };
    } catch (ErrnoException e) {
      throw new UncheckedIOException(e);
    }
  }
}
