package dev.belfry.shm;

import java.util.concurrent.locks.LockSupport;

/** Pauses between looks at something that nobody announces. */
final class Backoff {
  /** The first pause. */
  static final long FIRST_NANOS = 1_000;

  private static final long LONGEST_NANOS = 1_000_000;

  private Backoff() {}

  /** How long to pause after a pause. */
  static long next(long nanos) {
    return Math.min(2 * nanos, LONGEST_NANOS);
  }

  /** Pauses that long even if this thread is interrupted, which it still is afterwards. */
  static void pause(long nanos) {
    boolean interrupted = false;
    long until = System.nanoTime() + nanos;
    // A virtual thread that is told again of its interrupt does not park the next time either.
    for (long rest = nanos; rest > 0; rest = until - System.nanoTime()) {
      interrupted |= Thread.interrupted(); // or parking would return at once
      LockSupport.parkNanos(rest);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
