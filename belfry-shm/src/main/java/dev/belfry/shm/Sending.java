package dev.belfry.shm;

import static dev.belfry.shm.SendResult.NO_CREDIT;
import static dev.belfry.shm.SendResult.NO_SLOT;
import static dev.belfry.shm.SendResult.RING_FULL;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a link for any number of threads, which take turns. A thread that waits for
 * the peer keeps its turn; a thread that must not wait then gets the reason at once.
 */
final class Sending {
  /** How long to wait at a time for a turn that should end soon. */
  private static final long SHORT_TURN_NANOS = 50_000;

  private final Link link;
  private final BellWait waiting;
  private final Turn turn = new Turn();

  /** What the sender that has the turn waits for, or null. */
  private volatile @Nullable SendResult blocked;

  Sending(Link link, BellWait waiting) {
    this.link = link;
    this.waiting = waiting;
  }

  SendResult send(
      MessageKind kind,
      long id,
      long methodId,
      byte[] prefix,
      byte[] bytes,
      int offset,
      int length) {
    SendResult obstacle = takeShortTurn();
    if (obstacle != null) {
      return obstacle;
    }
    try {
      return link.outbox().send(kind, id, methodId, prefix, bytes, offset, length);
    } finally {
      turn.end();
    }
  }

  /** Takes the sender's turn. If its owner waits for the peer, returns what for instead. */
  private @Nullable SendResult takeShortTurn() {
    while (!turn.tryTake()) {
      SendResult waitedFor = blocked;
      if (waitedFor != null) {
        return waitedFor;
      }
      if (turn.take(System.nanoTime() + SHORT_TURN_NANOS)) {
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
    if (!turn.take(deadlineNanos)) {
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
      turn.end();
    }
  }

  /** Waits if there was no room; returns null if sending should be tried again. */
  private @Nullable SendResult awaitRoom(SendResult result, long deadlineNanos) {
    if (result != RING_FULL && result != NO_SLOT) {
      return result;
    }
    blocked = result;
    Outbox outbox = link.outbox();
    return failure(
        waiting.await(result == RING_FULL ? outbox::awaitSpace : outbox::awaitSlot, deadlineNanos));
  }

  private static @Nullable SendResult failure(Awaited awaited) {
    return switch (awaited) {
      case READY -> null;
      case OVER -> SendResult.OVER;
      case TIMEOUT -> SendResult.TIMEOUT;
    };
  }

  /** Leaves; see {@link Link#leave}. */
  void leave(long deadlineNanos) {
    inTurn(deadlineNanos, link::leave, link::sayGoodbye);
  }

  /** Prepares for leaving; see {@link Link#closeWhenRead}. */
  void closeWhenRead(long deadlineNanos) {
    inTurn(deadlineNanos, link::closeWhenRead, link::close);
  }

  /**
   * Leaves in turn. Without the turn, leaves at once: its owner waits for a peer that does not
   * read, and the outbox belongs to that thread.
   */
  private void inTurn(long deadlineNanos, LongConsumer leaving, Runnable atOnce) {
    if (!turn.take(deadlineNanos)) {
      atOnce.run();
      return;
    }
    blocked = RING_FULL; // waits for the peer to read
    try {
      leaving.accept(deadlineNanos);
    } finally {
      blocked = null;
      turn.end();
    }
  }

  // Channels.

  /** Sends data on a channel. Other threads can send while this one waits for credit. */
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

  /**
   * Waits without the turn, so the entry may go to another guest meanwhile and its credit be
   * garbage.
   */
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
    if (!turn.take(deadlineNanos)) {
      return SendResult.TIMEOUT;
    }
    try {
      while (!turn.isPointless()) {
        SendResult settled = awaitRoom(channel.send(bytes, offset, length), deadlineNanos);
        if (settled != null) {
          return settled;
        }
      }
      return SendResult.OVER;
    } finally {
      blocked = null;
      turn.end();
    }
  }

  /** Ends a channel; see {@link Channel#end}. */
  SendResult end(Channel channel, MessageKind how, long deadlineNanos) {
    if (!turn.take(deadlineNanos)) {
      return SendResult.TIMEOUT;
    }
    blocked = RING_FULL; // may wait for the peer to read
    try {
      return turn.isPointless() ? SendResult.OVER : channel.end(how, deadlineNanos);
    } finally {
      blocked = null;
      turn.end();
    }
  }

  /** For the thread that ends the link. */
  Turn turn() {
    return turn;
  }

  /** Wakes a thread of ours that waits for the peer on a futex. */
  void wakeBlocked() {
    if (blocked != null) {
      link.outbox().ring().wakeProducers();
    }
  }
}
