package dev.belfry.loop;

import org.jspecify.annotations.Nullable;

/** One direction of a descriptor: whether a call is worth trying, and who waits for it. */
// r[impl loop.fd.queues]
final class WaitQueue {
  /** What is known of the descriptor; a hint, never the news that something has arrived. */
  enum Readiness {
    /** Nothing was tried yet. */
    UNKNOWN,
    /** A call is worth trying. */
    READY,
    /** A call would have to wait: an event will tell when that changes. */
    BLOCKED
  }

  Readiness readiness = Readiness.UNKNOWN;

  private @Nullable IoOperation<?> first;
  private @Nullable IoOperation<?> last;

  // What this direction has used up, in which turn.
  private int turn;
  private long bytes;
  private int operations;

  /** Made when it is first needed. */
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

  /** Puts one back that was taken out to be tried, before all others. */
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

  /** Whether it has had its share of this turn. */
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

  /** Lets a call be tried again in a while. */
  void retryLater(Handle handle) {
    readiness = Readiness.BLOCKED;
    if (retry == null) {
      retry = new RetryTimer(handle, this);
    }
    retry.start();
  }

  /** Whether a call is to be tried again later, and that is still to come. */
  boolean isPaused() {
    return retry != null && retry.isRunning();
  }

  /** Gives up trying again. */
  void forgetRetry() {
    if (retry != null) {
      retry.cancel();
    }
  }
}
