package dev.belfry.signals;

import java.util.Optional;

/** Where the signals of the process come from. */
public interface SignalSource extends AutoCloseable {
  /** Its name in log records. */
  String name();

  /**
   * Begins to deliver a signal. Called at most once for each.
   *
   * @param receiver is told of each one, on any thread; returns at once
   * @return empty, or why this signal cannot come from here
   */
  Optional<String> subscribe(Signal signal, Receiver receiver);

  /**
   * Whether subscribing takes something away from somebody else, so that it should wait until the
   * program has a handler for the signal.
   */
  default boolean onlyOnDemand(Signal signal) {
    return false;
  }

  /** Delivers nothing more and gives the signals back to whoever had them. */
  @Override
  void close();

  /** Who is told. */
  @FunctionalInterface
  interface Receiver {
    /** A signal has come. */
    void receive(Signal signal);
  }
}
