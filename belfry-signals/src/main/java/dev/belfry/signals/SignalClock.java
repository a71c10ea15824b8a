package dev.belfry.signals;

import java.time.Duration;

/** The library's monotonic clock and timers. Never wall-clock time, which may jump. */
public interface SignalClock extends AutoCloseable {
  /** The current time of a monotonic clock. */
  long nanoTime();

  /**
   * Runs an action once after a delay, unless the timer is closed first.
   *
   * @param action what to run; must return quickly
   */
  Timer after(Duration delay, Runnable action);

  /** Cancels all timers. */
  @Override
  default void close() {}

  /** A pending action. */
  interface Timer extends AutoCloseable {
    /** Cancels the action unless it has begun. */
    @Override
    void close();
  }
}
