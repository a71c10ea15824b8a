package dev.belfry.signals;

import java.util.Map;

/** Where events are counted. Called on any thread; an exception is dropped. */
@FunctionalInterface
public interface SignalTelemetry {
  /**
   * Something happened.
   *
   * @param name what, such as {@code fulmen.signal.received}
   * @param tags its details; all but {@code correlation_id} have few different values
   */
  void event(String name, Map<String, String> tags);

  /** Something that a person should look at. An event like any other, unless overridden. */
  default void alert(String name, Map<String, String> tags) {
    event(name, tags);
  }
}
