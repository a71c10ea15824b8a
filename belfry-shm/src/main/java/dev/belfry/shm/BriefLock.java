package dev.belfry.shm;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that is held only briefly, by code that does not block. A virtual thread spins for it
 * instead of unmounting: its carrier may be an event loop thread, which would run something else,
 * might block on what the virtual thread holds, and never get back to it.
 */
final class BriefLock {
  private final ReentrantLock lock = new ReentrantLock();

  void take() {
    if (!Thread.currentThread().isVirtual()) {
      lock.lock();
      return;
    }
    while (!lock.tryLock()) {
      Thread.onSpinWait();
    }
  }

  void end() {
    lock.unlock();
  }
}
