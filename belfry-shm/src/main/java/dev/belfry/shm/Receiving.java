package dev.belfry.shm;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The receiving half of a link for any number of threads, which take turns. */
final class Receiving {
  /** How many messages to hand out before looking whether what was waited for has come. */
  private static final int AT_ONCE = 16;

  private final Link link;
  private final BellWait waiting;
  private final Turn turn = new Turn();

  /**
   * Whether the event loop was called while another thread had the turn, which may have looked for
   * the last time by then. Set before the loop tries once more, and read after the turn is given
   * back: so one of the two sees the other.
   */
  private volatile boolean missed;

  Receiving(Link link, BellWait waiting) {
    this.link = link;
    this.waiting = waiting;
  }

  /** Receives a message if there is one and nobody else is receiving. */
  boolean receive(Message into) {
    if (!turn.tryTake()) {
      return false;
    }
    try {
      return !turn.isPointless() && link.inbox().receive(into);
    } finally {
      turn.end();
    }
  }

  Awaited receiveBlocking(Message into, long deadlineNanos) {
    return receiveBlocking(null, into, deadlineNanos);
  }

  /** Waits for a message; if there is a handler, hands it out before its bytes are copied. */
  Awaited receiveBlocking(Inbox.@Nullable Handler handler, Message into, long deadlineNanos) {
    if (!turn.take(deadlineNanos)) {
      return Awaited.TIMEOUT;
    }
    try {
      Inbox inbox = link.inbox();
      if (turn.isPointless()) {
        return Awaited.OVER;
      }
      while (!(handler == null ? inbox.receive(into) : inbox.receive(handler, into, 1) > 0)) {
        Awaited awaited = waiting.await(inbox::awaitData, deadlineNanos);
        if (awaited != Awaited.READY) {
          return awaited;
        }
      }
      return Awaited.READY;
    } finally {
      turn.end();
    }
  }

  /**
   * Does {@link #receiveAndListen} for an event loop that was called, by the bell for example,
   * after which the guest believes that somebody looks: whoever has the turn just now is told, when
   * it ends, to have the loop come again, which may find another at its turn, and so on. Each of
   * them looks first; but one that had looked already could be followed by nobody.
   */
  int receiveWanted(Inbox.Handler handler, Message scratch, int limit) {
    int count = receiveAndListen(handler, scratch, limit);
    if (count < 0) {
      missed = true;
      count = receiveAndListen(handler, scratch, limit);
    }
    return count;
  }

  /**
   * Hands messages to a handler and then sleeps at the bell, for an event loop.
   *
   * @return how many; the limit if there may be more; -1 if another thread is receiving, which will
   *     do the same when it ends
   */
  int receiveAndListen(Inbox.Handler handler, Message scratch, int limit) {
    if (!turn.tryTake()) {
      return -1;
    }
    try {
      if (turn.isPointless()) {
        return 0;
      }
      int count = link.inbox().receive(handler, scratch, limit);
      if (count < limit) {
        count += listen(handler, scratch, limit - count);
      }
      return count;
    } finally {
      turn.end();
    }
  }

  /** From now on the peer rings; what it wrote before it knew is still taken. */
  private int listen(Inbox.Handler handler, Message scratch, int limit) {
    int count = 0;
    int some = limit;
    while (some > 0 && count < limit) {
      missed = false; // what the loop came for until now is found by this look
      link.inbox().listen();
      some = link.inbox().receive(handler, scratch, limit - count);
      count += some;
    }
    return count;
  }

  /**
   * Takes the receivers' turn if it is free; from now on the peer need not ring. It is not free for
   * a handler that is being handed a message: the next would take the place of that.
   */
  boolean tryReceiving() {
    if (turn.isMine() || !turn.tryTake()) {
      return false;
    }
    boolean receives = false;
    try {
      if (!turn.isPointless()) {
        link.inbox().attend();
        receives = true;
      }
      return receives;
    } finally {
      if (!receives) {
        turn.end();
      }
    }
  }

  /**
   * Gives the turn back; nobody learns of what comes, until somebody listens.
   *
   * @return whether the loop was called meanwhile and has to come again
   */
  boolean endReceivingDeaf() {
    requireTurn();
    turn.end();
    return takeMissed();
  }

  /** Whoever gets true has the loop come again, which covers all it came for until now. */
  private boolean takeMissed() {
    boolean was = missed;
    if (was) {
      missed = false;
    }
    return was;
  }

  /** With the turn taken: hands messages to a handler until a condition holds, or a deadline. */
  Awaited receiveUntil(
      BooleanSupplier done, Inbox.Handler handler, Message scratch, long deadlineNanos) {
    requireTurn();
    Inbox inbox = link.inbox();
    while (!done.getAsBoolean()) {
      if (inbox.receive(handler, scratch, AT_ONCE) == 0) {
        Awaited awaited = waiting.await(inbox::awaitData, deadlineNanos);
        if (awaited != Awaited.READY) {
          return done.getAsBoolean() ? Awaited.READY : awaited;
        }
      }
    }
    return Awaited.READY;
  }

  /** The same, but only while messages come within a moment of each other. */
  void receiveBriefly(BooleanSupplier done, Inbox.Handler handler, Message scratch) {
    requireTurn();
    Inbox inbox = link.inbox();
    while (!done.getAsBoolean() && inbox.hasDataSoon()) {
      inbox.receive(handler, scratch, AT_ONCE);
    }
  }

  /**
   * Gives the turn back; what comes from now on is announced by the bell.
   *
   * @return how many messages were there on leaving; the limit if there may be more
   */
  int endReceiving(Inbox.Handler handler, Message scratch, int limit) {
    requireTurn();
    int count;
    try {
      count = listen(handler, scratch, limit);
    } finally {
      turn.end();
    }
    return takeMissed() ? limit : count;
  }

  private void requireTurn() {
    if (!turn.isMine()) {
      throw new IllegalStateException("this thread does not receive: tryReceiving comes first");
    }
  }

  /** For the thread that ends the link. */
  Turn turn() {
    return turn;
  }

  /** Wakes a thread of ours that waits for the peer on a futex. */
  void wakeBlocked() {
    if (turn.isTaken()) {
      link.inbox().ring().wakeConsumers();
    }
  }
}
