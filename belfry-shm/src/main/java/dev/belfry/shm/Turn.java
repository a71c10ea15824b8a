package dev.belfry.shm;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An exclusive right that threads take in turn. Waiting for it is not interruptible; the interrupt
 * status is preserved.
 */
final class Turn {
  private final ReentrantLock lock = new ReentrantLock();

  /** Whether what the turn protects is gone. Guarded by the turn. */
  private boolean pointless;

  boolean tryTake() {
    return lock.tryLock();
  }

  /** Takes the turn; returns false if the deadline passes first. */
  boolean take(long deadlineNanos) {
    boolean interrupted = false;
    try {
      while (!lock.tryLock()) {
        long rest = Deadlines.restNanos(deadlineNanos);
        if (rest <= 0) {
          return false;
        }
        try {
          if (lock.tryLock(rest, TimeUnit.NANOSECONDS)) {
            return true;
          }
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Tells all later owners that there is nothing left to do. The caller has the turn. */
  void makePointless() {
    pointless = true;
  }

  /** Whether there is nothing left to do. The caller has the turn. */
  boolean isPointless() {
    return pointless;
  }

  void end() {
    lock.unlock();
  }

  boolean isTaken() {
    return lock.isLocked();
  }

  /** Whether the calling thread has the turn. */
  boolean isMine() {
    return lock.isHeldByCurrentThread();
  }
}
