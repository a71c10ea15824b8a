package dev.belfry.bench.harness;

import java.util.Locale;

/**
 * How a metric is shown to people.
 *
 * @param name its name in the samples
 * @param heading what stands above its column
 * @param divisor what a value is divided by, so that the heading's unit is right
 * @param decimals how many digits stand behind the point
 */
public record Metric(String name, String heading, double divisor, int decimals) {

  /** One value. */
  public String show(double value) {
    return String.format(Locale.ROOT, "%,." + decimals + "f", value / divisor);
  }

  /** From where to where the values go. */
  public String showSpread(Summary summary) {
    return show(summary.min()) + " .. " + show(summary.max());
  }
}
