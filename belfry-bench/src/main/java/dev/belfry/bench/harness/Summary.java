package dev.belfry.bench.harness;

import java.util.Arrays;
import java.util.Collection;

/**
 * A handful of figures in short.
 *
 * @param count how many there were
 * @param min the least
 * @param lowerQuartile a quarter of them is below
 * @param median half of them is below
 * @param upperQuartile three quarters of them are below
 * @param max the greatest
 */
public record Summary(
    int count, double min, double lowerQuartile, double median, double upperQuartile, double max) {

  /** The summary of at least one figure. */
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

  /** The value that a share of the sorted figures does not exceed, between two if need be. */
  static double quantile(double[] sorted, double share) {
    double place = share * (sorted.length - 1);
    int below = (int) Math.floor(place);
    int above = (int) Math.ceil(place);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }

  /** The smallest of the figures that at least so many per cent of them do not exceed. */
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
