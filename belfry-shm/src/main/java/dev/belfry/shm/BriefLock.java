package dev.belfry.shm;

import dev.belfry.loop.LoopCarrier;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that is held only briefly, by code that does not wait for a peer. A coroutine spins for it
 * instead of unmounting: its carrier is an event loop thread, which would run something else, might
 * block on what the coroutine holds, and never get back to it.
 *
 * <p>Other virtual threads spin only for a moment, then let their carriers go. The owner may be a
 * virtual thread that has lost its own carrier at a monitor inside the JDK, such as that of a
 * {@code Cleaner}; if all carriers spun, it would never get one again.
 */
final class BriefLock {
  /** Longer than the lock is usually held; with the pauses about a microsecond. */
  private static final int SPINS = 100;

  private final ReentrantLock lock = new ReentrantLock();

  void take() {
    if (Thread.currentThread().isVirtual() && spin()) {
      return;
    }
    lock.lock();
  }

  /** Whether a virtual thread got the lock by spinning; a coroutine always does. */
  private boolean spin() {
    for (int left = SPINS; left > 0 || LoopCarrier.carriesCaller(); left--) {
      if (lock.tryLock()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  void end() {
    lock.unlock();
  }
}
