package dev.belfry.signals;

import java.time.Duration;

/** Time as the library sees it. Never the clock on the wall, which is set forward and back. */
public interface SignalClock extends AutoCloseable {
  /** Now, on a clock that only goes forward. */
  long nanoTime();

  /**
   * Runs something once after a while, unless the timer is closed before.
   *
   * @param action must return soon
   */
  Timer after(Duration delay, Runnable action);

  /** Runs nothing more. */
  @Override
  default void close() {}

  /** Something that will run. */
  interface Timer extends AutoCloseable {
    /** It will not run, if it has not begun. */
    @Override
    void close();
  }
}
