package dev.belfry.workers;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where callers wait for room, roughly in order of arrival. Costs hardly anything while none waits:
 * a thread that makes room reads one counter.
 */
final class Gate {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final AtomicInteger waiting = new AtomicInteger();
  private int permits;

  int waiting() {
    return waiting.get();
  }

  /** Lets one caller in, because room for one call has come. */
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

  /** Has all callers look again. */
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
   * Announces a caller that is about to wait. It must then look for room once more, and wait only
   * if there is none, or it could miss a wake-up.
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

  /** Waits until there may be room; false if the deadline passes first. */
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
