package dev.belfry.gateway;

import java.util.concurrent.atomic.AtomicLong;

/** How many bytes of payloads may be in memory: of each, and of all at the same time. */
final class Memory {
  private final long mostBytes;
  private final AtomicLong left;

  Memory(long mostBytes) {
    this.mostBytes = mostBytes;
    this.left = new AtomicLong(Math.max(mostBytes, Runtime.getRuntime().maxMemory() / 4));
  }

  long mostBytes() {
    return mostBytes;
  }

  /** Whether there is room for so many; then it has to be given back. */
  boolean tryTake(long bytes) {
    long now = left.get();
    while (now >= bytes) {
      long witness = left.compareAndExchange(now, now - bytes);
      if (witness == now) {
        return true;
      }
      now = witness;
    }
    return false;
  }

  void giveBack(long bytes) {
    left.addAndGet(bytes);
  }
}
