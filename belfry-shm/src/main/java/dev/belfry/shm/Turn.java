package dev.belfry.shm;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** What one thread at a time has. Waiting for it is not ended by an interrupt, which is kept. */
final class Turn {
  private final ReentrantLock lock = new ReentrantLock();

  /** Whether what the turn is for is no longer there; set and read by whoever has the turn. */
  private boolean pointless;

  boolean tryTake() {
    return lock.tryLock();
  }

  /** Takes it; false after the deadline. */
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

  /** With it taken: whoever takes it from now on finds that there is nothing left to do. */
  void makePointless() {
    pointless = true;
  }

  /** With it taken: whether there is nothing left to do. */
  boolean isPointless() {
    return pointless;
  }

  void end() {
    lock.unlock();
  }

  boolean isTaken() {
    return lock.isLocked();
  }

  /** Whether it is this thread that has it. */
  boolean isMine() {
    return lock.isHeldByCurrentThread();
  }
}
