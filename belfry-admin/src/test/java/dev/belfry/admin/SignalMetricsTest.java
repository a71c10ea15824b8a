package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SignalMetricsTest {
  /** The metrics used to have no description. */
  @Test
  void eventsAndAlertsAreCountedAndSayWhatTheyAre() {
    var meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    var metrics = new SignalMetrics(meters);
    metrics.event("signal.received", Map.of("signal", "TERM", "correlation_id", "1"));
    metrics.alert("signal.forced", Map.of());
    assertThat(meters.scrape())
        .contains(
            "# HELP belfry_signal_events_total What signals have led to, by event and signal\n",
            "belfry_signal_events_total{event=\"signal.received\",signal=\"TERM\"} 1.0\n",
            "# HELP belfry_signal_alerts_total What somebody should look at, by event and signal\n",
            "belfry_signal_alerts_total{event=\"signal.forced\",signal=\"none\"} 1.0\n");
  }
}
