package dev.belfry.signals;

import java.util.Map;

/**
 * Receives events, on any thread. An exception that it throws is reported on standard error and
 * otherwise ignored.
 */
@FunctionalInterface
public interface SignalTelemetry {
  /**
   * An event has happened.
   *
   * @param name its name, such as {@code fulmen.signal.received}
   * @param tags its details; all but {@code correlation_id} have low cardinality
   */
  void event(String name, Map<String, String> tags);

  /** An event that needs human attention; by default treated like any other. */
  default void alert(String name, Map<String, String> tags) {
    event(name, tags);
  }
}
