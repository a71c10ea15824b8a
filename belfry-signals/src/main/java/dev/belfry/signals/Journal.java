package dev.belfry.signals;

import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.Map;

/** Writes what happens to log and telemetry, so that every record has the same fields. */
// r[impl signals.observe.events]
final class Journal {
  private static final String EVENT_PREFIX = "fulmen.";

  private final SignalLog log;
  private final SignalTelemetry telemetry;

  Journal(SignalLog log, SignalTelemetry telemetry) {
    this.log = log;
    this.telemetry = telemetry;
  }

  /** A record and an event about a delivery; details are names and values in turn. */
  void tell(Level level, Delivery delivery, String event, String message, String... details) {
    Map<String, String> fields = fields(delivery, details);
    record(level, event, message, fields);
    count(event, fields);
  }

  /** A record only. */
  void record(Level level, Delivery delivery, String event, String message, String... details) {
    record(level, event, message, fields(delivery, details));
  }

  /** A record only, about no delivery. */
  void record(Level level, String event, String message, Map<String, String> fields) {
    isolated(() -> log.log(new SignalRecord(level, event, message, fields)));
  }

  /** An event only. */
  void count(Delivery delivery, String event, String... details) {
    count(event, fields(delivery, details));
  }

  private void count(String event, Map<String, String> tags) {
    emit(EVENT_PREFIX + event, tags);
  }

  /** An event with a name that is not the library's own. */
  void emit(String name, Map<String, String> tags) {
    isolated(() -> telemetry.event(name, tags));
  }

  void alert(Delivery delivery, String name, String... details) {
    isolated(() -> telemetry.alert(name, fields(delivery, details)));
  }

  void notice(String line) {
    isolated(() -> log.notice(line));
  }

  private static Map<String, String> fields(Delivery delivery, String... details) {
    var fields = new LinkedHashMap<String, String>();
    fields.put("signal", delivery.signal().name());
    fields.put("correlation_id", delivery.correlationId());
    for (int i = 0; i + 1 < details.length; i += 2) {
      fields.put(details[i], details[i + 1]);
    }
    return fields;
  }

  /** A sink that fails must not keep a process from ending. */
  private static void isolated(Runnable sink) {
    try {
      sink.run();
    } catch (RuntimeException | Error e) {
      System.err.println("belfry: a sink for signal records failed: " + e);
    }
  }
}
