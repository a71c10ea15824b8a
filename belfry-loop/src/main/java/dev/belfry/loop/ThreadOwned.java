package dev.belfry.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Ownership of a loop by one thread at a time: the one that drives it, or the one that ends it. */
abstract sealed class ThreadOwned permits LoopCore {
  private static final VarHandle OWNER =
      FieldHandle.of(MethodHandles.lookup(), "owner", Thread.class);

  /** The thread that drives the loop, or null. */
  private volatile @Nullable Thread owner;

  /** The lock of the waiting thread, so that there is only one. */
  private final Object waiting = new Object();

  /** The thread that waits for the loop, or null; unparked by the owner when it leaves. */
  private volatile @Nullable Thread waiter;

  /** The thread that drives the loop, or null if none does. */
  final @Nullable Thread owner() {
    return owner;
  }

  /** Whether the caller runs on the owning thread, directly or as a coroutine. */
  final boolean isOwnedByCaller() {
    Thread driving = owner;
    Thread current = Thread.currentThread();
    return current == driving
        || (current.isVirtual() && driving != null && LoopCarrier.currentCarrier() == driving);
  }

  /**
   * Makes the calling thread the owner of the loop, until it leaves.
   *
   * @throws IllegalStateException if the loop has an owner, or the thread is a virtual one
   */
  // r[impl loop.run.exclusive] r[impl loop.backend.single]
  final void own() {
    Thread current = Thread.currentThread();
    if (current.isVirtual()) {
      throw new IllegalStateException("a loop is driven by a platform thread, not a virtual one");
    }
    if (!OWNER.compareAndSet(this, null, current)) {
      throw new IllegalStateException("the loop is driven already, by " + owner);
    }
  }

  /** Waits until no thread drives the loop, and becomes its owner. */
  final void awaitAndOwn() {
    Thread current = Thread.currentThread();
    boolean interrupted = false;
    synchronized (waiting) {
      waiter = current;
      while (!OWNER.compareAndSet(this, null, current)) {
        LockSupport.park(this);
        interrupted |= Thread.interrupted();
      }
      waiter = null;
    }
    if (interrupted) {
      current.interrupt();
    }
  }

  /** Gives up the loop; the waiting thread gets it, unless another one is faster. */
  final void leave() {
    owner = null;
    LockSupport.unpark(waiter);
  }
}
