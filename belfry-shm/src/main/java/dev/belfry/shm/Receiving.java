package dev.belfry.shm;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The receiving half of a link for any number of threads, which take turns. */
final class Receiving {
  /** The number of messages to hand out between two tests of the caller's condition. */
  private static final int AT_ONCE = 16;

  private final Link link;
  private final BellWait waiting;
  private final Turn turn = new Turn();

  /**
   * Whether the event loop came while another thread had the turn, which may have looked for the
   * last time by then. Set before the loop tries once more, and read after the turn is released: so
   * at least one of the two sees the other.
   */
  private volatile boolean missed;

  Receiving(Link link, BellWait waiting) {
    this.link = link;
    this.waiting = waiting;
  }

  /** Receives a message if there is one and no other thread is receiving. */
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

  /** Waits for a message; passes it to the handler, if any, before its bytes are copied. */
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
   * Like {@link #receiveAndListen}, for an event loop that was prompted, for example by the bell:
   * the guest now relies on the host to look. If another thread has the turn, that thread makes the
   * loop come again when it ends; the loop may then find yet another thread in the turn, and so on.
   * Each of them looks on taking the turn, but one that has looked for the last time may have no
   * successor.
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
   * For an event loop: passes messages to a handler and then sleeps at the bell.
   *
   * @return the number of messages; the limit if there may be more; -1 if another thread is
   *     receiving, which will do the same when it ends
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

  /** Makes the peer ring from now on, and takes what it wrote before it knew. */
  private int listen(Inbox.Handler handler, Message scratch, int limit) {
    int count = 0;
    int some = limit;
    while (some > 0 && count < limit) {
      missed = false; // this look finds everything that the loop has come for so far
      link.inbox().listen();
      some = link.inbox().receive(handler, scratch, limit - count);
      count += some;
    }
    return count;
  }

  /**
   * Takes the receivers' turn if it is free; from now on the peer need not ring. Refused to a
   * handler that is being handed a message, which the next one would overwrite.
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
   * Releases the turn without listening: arriving messages are not announced until a thread
   * listens.
   *
   * @return whether the loop was turned away meanwhile and has to come again
   */
  boolean endReceivingDeaf() {
    requireTurn();
    turn.end();
    return takeMissed();
  }

  /**
   * A caller that gets true makes the loop come again, which covers all that it came for so far.
   */
  private boolean takeMissed() {
    boolean was = missed;
    if (was) {
      missed = false;
    }
    return was;
  }

  /**
   * Passes messages to a handler until a condition holds or the deadline passes. The caller has the
   * turn.
   */
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

  /** The same, but only while messages follow each other within a moment. */
  void receiveBriefly(BooleanSupplier done, Inbox.Handler handler, Message scratch) {
    requireTurn();
    Inbox inbox = link.inbox();
    while (!done.getAsBoolean() && inbox.hasDataSoon()) {
      inbox.receive(handler, scratch, AT_ONCE);
    }
  }

  /**
   * Releases the turn; the bell announces what arrives from now on.
   *
   * @return the number of messages found on leaving; the limit if there may be more
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
