package dev.belfry.signals;

/** The program's action for a signal. Runs before the catalog's behaviour. */
@FunctionalInterface
public interface SignalHandler {
  /**
   * Handles a signal. Called on one of the library's threads, never concurrently for the same
   * signal. An exception is logged, and the remaining handlers still run.
   *
   * @param signal the signal that arrived
   */
  void handle(Signal signal) throws Exception;
}
