package dev.belfry.signals;

import java.util.Optional;

/** A source of the process's signals. */
public interface SignalSource extends AutoCloseable {
  /** Its name in log records. */
  String name();

  /**
   * Starts delivering a signal. Called at most once per signal.
   *
   * @param receiver called for each delivery, on any thread; returns immediately
   * @return why this source cannot deliver the signal; empty if it can
   */
  Optional<String> subscribe(Signal signal, Receiver receiver);

  /**
   * Whether subscribing would deprive another user of the signal, such as the JVM, and should
   * therefore wait until the program registers a handler.
   */
  default boolean onlyOnDemand(Signal signal) {
    return false;
  }

  /** Stops delivering and restores the previous signal handling. */
  @Override
  void close();

  /** Receives signals from a source. */
  @FunctionalInterface
  interface Receiver {
    /** A signal has arrived. */
    void receive(Signal signal);
  }
}
