package dev.belfry.gateway;

import java.util.concurrent.atomic.AtomicLong;

/** Bounds the bytes of requests and answers that are in memory at a time. */
final class Memory {
  private final AtomicLong left;

  Memory(long bytes) {
    this.left = new AtomicLong(bytes);
  }

  /** Reserves that many bytes if available; if true, they must be given back. */
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

  /** Reserves bytes that already exist, even beyond the bound; new requests then have to wait. */
  void take(long bytes) {
    left.addAndGet(-bytes);
  }

  void giveBack(long bytes) {
    left.addAndGet(bytes);
  }
}
