package dev.belfry.bench.harness;

import java.util.Locale;

/**
 * How a metric is displayed.
 *
 * @param name its name in the samples
 * @param heading the heading of its column
 * @param divisor converts values to the heading's unit
 * @param decimals the number of digits after the point
 */
public record Metric(String name, String heading, double divisor, int decimals) {

  /** Formats a value. */
  public String show(double value) {
    return String.format(Locale.ROOT, "%,." + decimals + "f", value / divisor);
  }

  /** Formats the range of the values. */
  public String showSpread(Summary summary) {
    return show(summary.min()) + " .. " + show(summary.max());
  }
}
