package dev.belfry.signals;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Handles the deliveries of one signal, one at a time. A delivery that arrives during another
 * waits; further ones are merged with the waiting one, as the kernel merges pending signals. Memory
 * stays bounded however many arrive, and no handler runs concurrently with itself.
 */
final class Lane {
  private final SignalThreads threads;
  private final Consumer<Delivery> work;
  private boolean busy;
  private @Nullable Delivery waiting;

  Lane(SignalThreads threads, Consumer<Delivery> work) {
    this.threads = threads;
    this.work = work;
  }

  /**
   * Adds a delivery; returns the one that will be handled: this one, or the one it was merged with.
   */
  Delivery add(Delivery delivery) {
    synchronized (this) {
      if (busy) {
        waiting = waiting != null ? waiting : delivery;
        return waiting;
      }
      busy = true;
    }
    start(delivery);
    return delivery;
  }

  private void start(Delivery first) {
    try {
      threads.run(() -> runAll(first));
    } catch (OutOfMemoryError noThread) {
      giveUp();
      throw noThread;
    }
  }

  private void runAll(Delivery first) {
    Delivery delivery = first;
    try {
      while (delivery != null) {
        work.accept(delivery);
        delivery.done().complete(null);
        delivery = next();
      }
    } finally {
      if (delivery != null) { // an error got through, such as OutOfMemoryError
        delivery.done().complete(null);
        Delivery next = next();
        if (next != null) {
          start(next);
        }
      }
    }
  }

  /** Drops what is here, as there is no memory for a thread; later deliveries may succeed. */
  private synchronized void giveUp() {
    waiting = null;
    busy = false;
  }

  private synchronized @Nullable Delivery next() {
    Delivery next = waiting;
    waiting = null;
    busy = next != null;
    return next;
  }
}
