package dev.belfry.signals;

/** Work to be done when the process shuts down. */
@FunctionalInterface
public interface Cleanup {
  /**
   * Does the work. Called at most once. An exception is logged, and the next cleanup still runs.
   */
  void run() throws Exception;
}
