package dev.belfry.loop;

/** Waiting for threads whose end cannot be left half done. */
final class Joining {
  private Joining() {}

  /** Waits for a thread to end; an interrupt meanwhile is kept for the caller. */
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
