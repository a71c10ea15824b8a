package dev.belfry.shm;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that is held for a moment only, by code that does not wait. A virtual thread waits for it
 * without leaving its carrier: if that is the thread of an event loop, which then goes on with
 * something else, it could come to wait for what the virtual thread holds, and never run it again.
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
