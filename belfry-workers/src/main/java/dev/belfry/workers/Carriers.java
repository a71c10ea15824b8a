package dev.belfry.workers;

import dev.belfry.loop.LoopCarrier;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that carry virtual threads. Who looks for an answer keeps the one it is on, and as
 * long as it calls on and on nobody else gets it; so one is always left for all the others, be they
 * callers or not. There is one for each processor, and this counts for all pools of the process.
 */
final class Carriers {
  private static final AtomicInteger FREE =
      new AtomicInteger(
          Integer.getInteger(
                  "jdk.virtualThreadScheduler.parallelism",
                  Runtime.getRuntime().availableProcessors())
              - 1);

  private Carriers() {}

  /**
   * Whether the caller may keep the thread it runs on, until {@link #letGo}. A platform thread is
   * its own, and a loop needs its thread for others than the coroutine that calls.
   */
  static boolean tryKeep() {
    return !Thread.currentThread().isVirtual() || (!LoopCarrier.carriesCaller() && tryTake());
  }

  private static boolean tryTake() {
    int free = FREE.get();
    while (free > 0 && !FREE.compareAndSet(free, free - 1)) {
      free = FREE.get();
    }
    return free > 0;
  }

  static void letGo() {
    if (Thread.currentThread().isVirtual()) {
      FREE.incrementAndGet();
    }
  }
}
