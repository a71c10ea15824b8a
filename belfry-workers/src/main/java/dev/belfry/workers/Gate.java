package dev.belfry.workers;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where callers wait for room, in the order they came. Nobody pays for it while nobody waits: who
 * makes room looks at one number.
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
   * Announces a caller who is about to wait. Then it looks for room once more, and only if there is
   * none it waits.
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

  /** Waits until there may be room; false if the time is over before. */
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
