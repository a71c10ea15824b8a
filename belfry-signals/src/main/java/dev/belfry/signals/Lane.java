package dev.belfry.signals;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Does the work of one signal, one delivery at a time. What comes while one is at work waits; what
 * comes while one is waiting is merged with the one that waits, as the kernel does with pending
 * signals. So however many come, memory stays bounded and no handler runs twice at the same time.
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

  /** Returns the delivery that does the work: this one, or the one it was merged with. */
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
      if (delivery != null) { // an error has come this far, as for want of memory
        delivery.done().complete(null);
        Delivery next = next();
        if (next != null) {
          start(next);
        }
      }
    }
  }

  /** What is here is lost for want of memory; what comes later may have more luck. */
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
