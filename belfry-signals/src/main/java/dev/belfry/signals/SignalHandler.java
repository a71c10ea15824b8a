package dev.belfry.signals;

/** What a program does when a signal comes, before the catalog's behaviour. */
@FunctionalInterface
public interface SignalHandler {
  /**
   * Called on a thread of the library, never twice at a time for one signal. If it throws, that is
   * logged and the others are called all the same.
   *
   * @param signal the signal that came
   */
  void handle(Signal signal) throws Exception;
}
