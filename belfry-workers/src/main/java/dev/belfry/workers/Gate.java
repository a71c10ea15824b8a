package dev.belfry.workers;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where callers wait for room, roughly in the order they came. It costs hardly anything while
 * nobody waits: whoever makes room looks at one number.
 */
final class Gate {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final AtomicInteger waiting = new AtomicInteger();
  private int permits;

  int waiting() {
    return waiting.get();
  }

  /** Room for one has come. */
  void roomForOne() {
    if (waiting.get() > 0) {
      lock.lock();
      try {
        permits++;
        changed.signal();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Everybody had better look again. */
  void changedForAll() {
    lock.lock();
    try {
      permits = waiting.get();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Announces a caller that is about to wait. It then looks for room once more, and waits only if
   * there is none.
   */
  void enter() {
    waiting.incrementAndGet();
  }

  void leave() {
    lock.lock();
    try {
      permits = Math.min(permits, waiting.decrementAndGet());
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there may be room; false if the time is over first. */
  boolean await(long deadlineNanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (permits == 0) {
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        changed.awaitNanos(left);
      }
      permits--;
      return true;
    } finally {
      lock.unlock();
    }
  }
}
