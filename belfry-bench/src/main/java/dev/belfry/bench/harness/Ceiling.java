package dev.belfry.bench.harness;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * An absolute limit for a contender, whatever others do.
 *
 * @param contender the contender
 * @param metric the metric, whose heading describes it
 * @param most the highest median allowed
 */
public record Ceiling(String contender, Metric metric, double most) {

  /** The verdict in one line; empty if it was not measured. */
  public Optional<String> verdict(Measurements measurements, Map<String, Object> params) {
    return measurements
        .summary(contender, params, metric.name())
        .map(
            summary ->
                String.format(
                    Locale.ROOT,
                    "%-6s  %s of %s: %s (%s), goal at most %s",
                    summary.median() <= most ? "met" : "missed",
                    metric.heading(),
                    contender,
                    metric.show(summary.median()),
                    metric.showSpread(summary),
                    metric.show(most)));
  }
}
