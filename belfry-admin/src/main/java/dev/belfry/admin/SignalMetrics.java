package dev.belfry.admin;

import dev.belfry.signals.SignalTelemetry;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;

/** Counts signal events and alerts, by event and signal. */
public final class SignalMetrics implements SignalTelemetry {
  private final MeterRegistry meters;

  /** Creates a counter in a registry. */
  public SignalMetrics(MeterRegistry meters) {
    this.meters = meters;
  }

  @Override
  public void event(String name, Map<String, String> tags) {
    count("belfry.signal.events", "What signals have led to, by event and signal", name, tags);
  }

  @Override
  public void alert(String name, Map<String, String> tags) {
    count("belfry.signal.alerts", "What somebody should look at, by event and signal", name, tags);
  }

  /** Drops tags of unbounded cardinality, such as correlation ids. */
  private void count(String meter, String meaning, String name, Map<String, String> tags) {
    Counter.builder(meter)
        .description(meaning)
        .tags("event", name, "signal", tags.getOrDefault("signal", "none"))
        .register(meters)
        .increment();
  }
}
