package dev.belfry.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A loop as something that one thread at a time owns: the one that drives it, or that ends it. */
abstract sealed class ThreadOwned permits LoopCore {
  private static final VarHandle OWNER =
      FieldHandle.of(MethodHandles.lookup(), "owner", Thread.class);

  /** The thread that drives the loop, or null. */
  private volatile @Nullable Thread owner;

  /** Held by the thread that waits for the loop, so that there is only one. */
  private final Object waiting = new Object();

  /** The thread that waits for the loop, or null; the owner wakes it when it leaves. */
  private volatile @Nullable Thread waiter;

  /** The thread that drives the loop, or null if none does. */
  final @Nullable Thread owner() {
    return owner;
  }

  /** Whether the caller is on the thread that owns the loop, as itself or as a coroutine. */
  final boolean isOwnedByCaller() {
    Thread driving = owner;
    Thread current = Thread.currentThread();
    return current == driving
        || (current.isVirtual() && driving != null && LoopCarrier.currentCarrier() == driving);
  }

  /**
   * Makes the loop the calling thread's, until that thread leaves it.
   *
   * @throws IllegalStateException if it has an owner, or the thread is a virtual one
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

  /** Waits until nobody drives the loop, whichever way it was driven, and takes it over. */
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

  /** Lets go of the loop; whoever waits for it gets it, or another thread that is faster. */
  final void leave() {
    owner = null;
    LockSupport.unpark(waiter);
  }
}
