package dev.belfry.loop;

import org.jspecify.annotations.Nullable;

/** One direction of a descriptor: whether a call is worth a try, and the waiting operations. */
// r[impl loop.fd.queues]
final class WaitQueue {
  /** What is known about the descriptor; a hint, never proof that data has arrived. */
  enum Readiness {
    /** No call was made yet. */
    UNKNOWN,
    /** A call is worth an attempt. */
    READY,
    /** A call would have to wait; an event or a timer will tell when that changes. */
    BLOCKED
  }

  Readiness readiness = Readiness.UNKNOWN;

  private @Nullable IoOperation<?> first;
  private @Nullable IoOperation<?> last;

  // How much this direction has used up, and in which turn.
  private int turn;
  private long bytes;
  private int operations;

  /** Created when first needed. */
  private @Nullable RetryTimer retry;

  @Nullable IoOperation<?> first() {
    return first;
  }

  @Nullable IoOperation<?> last() {
    return last;
  }

  void add(IoOperation<?> operation) {
    operation.queued = true;
    operation.previous = last;
    operation.following = null;
    if (last == null) {
      first = operation;
    } else {
      last.following = operation;
    }
    last = operation;
  }

  /** Puts back an operation that was removed for an attempt, at the front. */
  void putBack(IoOperation<?> operation) {
    operation.queued = true;
    operation.previous = null;
    operation.following = first;
    if (first == null) {
      last = operation;
    } else {
      first.previous = operation;
    }
    first = operation;
  }

  void remove(IoOperation<?> operation) {
    operation.queued = false;
    IoOperation<?> before = operation.previous;
    IoOperation<?> after = operation.following;
    operation.previous = null;
    operation.following = null;
    if (before == null) {
      first = after;
    } else {
      before.following = after;
    }
    if (after == null) {
      last = before;
    } else {
      after.previous = before;
    }
  }

  /** Whether it has used up its share of this turn. */
  // r[impl loop.op.fair]
  boolean isSpent(int now, LoopOptions limits) {
    if (turn != now) {
      turn = now;
      bytes = 0;
      operations = 0;
    }
    return bytes >= limits.bytesPerTurn() || operations >= limits.operationsPerTurn();
  }

  void spend(long transferred) {
    bytes += transferred;
    operations++;
    if (retry != null) {
      retry.callSucceeded();
    }
  }

  /** Arranges for another attempt after a pause. */
  void retryLater(Handle handle) {
    readiness = Readiness.BLOCKED;
    if (retry == null) {
      retry = new RetryTimer(handle, this);
    }
    retry.start();
  }

  /** Whether it is pausing before another attempt. */
  boolean isPaused() {
    return retry != null && retry.isRunning();
  }

  /** Gives up the pending retry. */
  void forgetRetry() {
    if (retry != null) {
      retry.cancel();
    }
  }
}
