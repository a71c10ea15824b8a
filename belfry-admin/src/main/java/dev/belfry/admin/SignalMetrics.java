package dev.belfry.admin;

import dev.belfry.signals.SignalTelemetry;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;

/** Counts the events of the signals, by event and signal. */
public final class SignalMetrics implements SignalTelemetry {
  private final MeterRegistry meters;

  /** Counts there. */
  public SignalMetrics(MeterRegistry meters) {
    this.meters = meters;
  }

  @Override
  public void event(String name, Map<String, String> tags) {
    count("belfry.signal.events", name, tags);
  }

  @Override
  public void alert(String name, Map<String, String> tags) {
    count("belfry.signal.alerts", name, tags);
  }

  /** Without the tags whose values never end, such as correlation ids. */
  private void count(String meter, String name, Map<String, String> tags) {
    meters.counter(meter, "event", name, "signal", tags.getOrDefault("signal", "none")).increment();
  }
}
