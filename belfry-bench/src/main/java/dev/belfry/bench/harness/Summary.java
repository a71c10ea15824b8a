package dev.belfry.bench.harness;

import java.util.Arrays;
import java.util.Collection;

/**
 * The summary of a set of figures.
 *
 * @param count the number of figures
 * @param min the minimum
 * @param lowerQuartile the lower quartile
 * @param median the median
 * @param upperQuartile the upper quartile
 * @param max the maximum
 */
public record Summary(
    int count, double min, double lowerQuartile, double median, double upperQuartile, double max) {

  /** Summarises at least one figure. */
  public static Summary of(Collection<Double> figures) {
    double[] sorted = figures.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    if (sorted.length == 0) {
      throw new IllegalArgumentException("there is nothing to sum up");
    }
    return new Summary(
        sorted.length,
        sorted[0],
        quantile(sorted, 0.25),
        quantile(sorted, 0.5),
        quantile(sorted, 0.75),
        sorted[sorted.length - 1]);
  }

  /** The quantile of sorted figures, interpolated between two if need be. */
  static double quantile(double[] sorted, double share) {
    double place = share * (sorted.length - 1);
    int below = (int) Math.floor(place);
    int above = (int) Math.ceil(place);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }

  /** The smallest figure that at least this percentage of the figures do not exceed. */
  public static long percentile(long[] figures, double percent) {
    if (figures.length == 0) {
      throw new IllegalArgumentException("there is nothing to choose from");
    }
    long[] sorted = figures.clone();
    Arrays.sort(sorted);
    int rank = (int) Math.ceil(percent / 100 * sorted.length);
    return sorted[Math.clamp(rank - 1, 0, sorted.length - 1)];
  }
}
