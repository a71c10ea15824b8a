package dev.belfry.shm;

import java.util.concurrent.locks.LockSupport;

/** Exponential pauses between polls. */
final class Backoff {
  /** The first pause. */
  static final long FIRST_NANOS = 1_000;

  private static final long LONGEST_NANOS = 1_000_000;

  private Backoff() {}

  /** The pause that follows a pause of {@code nanos}. */
  static long next(long nanos) {
    return Math.min(2 * nanos, LONGEST_NANOS);
  }

  /**
   * Pauses for the full time even if this thread is interrupted; preserves the interrupt status.
   */
  static void pause(long nanos) {
    boolean interrupted = false;
    long until = System.nanoTime() + nanos;
    // Restoring the interrupt of a virtual thread also leaves a permit, with which its next park
    // returns at once. Hence the loop.
    for (long rest = nanos; rest > 0; rest = until - System.nanoTime()) {
      interrupted |= Thread.interrupted(); // an interrupted thread would not park
      LockSupport.parkNanos(rest);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
