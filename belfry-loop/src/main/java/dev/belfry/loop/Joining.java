package dev.belfry.loop;

/** Joins threads whose end must not be abandoned half-way. */
final class Joining {
  private Joining() {}

  /** Waits for a thread to end; an interrupt meanwhile stays pending for the caller. */
  static void awaitEnd(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
