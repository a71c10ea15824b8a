package dev.belfry.gateway;

import java.util.concurrent.atomic.AtomicLong;

/** How many bytes of requests and their answers may be in memory at the same time. */
final class Memory {
  private final AtomicLong left;

  Memory(long bytes) {
    this.left = new AtomicLong(bytes);
  }

  /** Takes room for that many bytes, if there is enough; then it has to be given back. */
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

  /** Takes room in any case: the bytes are there already, and others have to wait for them. */
  void take(long bytes) {
    left.addAndGet(-bytes);
  }

  void giveBack(long bytes) {
    left.addAndGet(bytes);
  }
}
