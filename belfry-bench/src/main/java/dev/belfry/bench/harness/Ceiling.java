package dev.belfry.bench.harness;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What a contender should not exceed, whatever others do.
 *
 * @param contender who
 * @param metric in what; its heading says it in words
 * @param most what the median still may be
 */
public record Ceiling(String contender, Metric metric, double most) {

  /** The verdict in a line; empty if it was not measured. */
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
