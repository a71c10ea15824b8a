package dev.belfry.bench.harness;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What a contender should achieve compared with another.
 *
 * @param contender the contender
 * @param reference the one to compare with
 * @param metric the name of the metric
 * @param what the metric in words
 * @param bound on which side of the limit the goal is met
 * @param limit the ratio that just meets the goal
 */
public record Goal(
    String contender, String reference, String metric, String what, Bound bound, double limit) {

  /** On which side of the limit the goal is met. */
  public enum Bound {
    AT_LEAST("at least") {
      @Override
      boolean holds(double ratio, double limit) {
        return ratio >= limit;
      }
    },
    AT_MOST("at most") {
      @Override
      boolean holds(double ratio, double limit) {
        return ratio <= limit;
      }
    };

    private final String words;

    Bound(String words) {
      this.words = words;
    }

    abstract boolean holds(double ratio, double limit);
  }

  /** The verdict in one line; empty if either did not take part. */
  public Optional<String> verdict(Measurements measurements, Map<String, Object> params) {
    return measurements
        .ratio(contender, reference, params, metric)
        .map(
            ratio ->
                String.format(
                    Locale.ROOT,
                    "%-6s  %s of %s: %.2f of %s (%.2f .. %.2f), goal %s %.2f",
                    isMet(ratio) ? "met" : "missed",
                    what,
                    contender,
                    ratio.median(),
                    reference,
                    ratio.min(),
                    ratio.max(),
                    bound.words,
                    limit));
  }

  boolean isMet(Summary ratio) {
    return bound.holds(ratio.median(), limit);
  }
}
