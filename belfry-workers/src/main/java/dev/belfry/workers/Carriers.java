package dev.belfry.workers;

import dev.belfry.loop.LoopCarrier;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Limits the use of the threads that carry virtual threads. A virtual thread that looks for an
 * answer keeps its carrier, and as long as it makes one call after another no other gets it; so one
 * carrier is always left for all the others, whether they call or not. There is one carrier per
 * processor by default, and the count is shared by all pools of the process.
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
   * Whether the caller may keep the thread it runs on, until {@link #letGo}. A platform thread
   * always may; a coroutine on a loop never may, because the loop needs its thread for others too.
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
