package dev.belfry.bench.call;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * The result of one measurement.
 *
 * @param perSecond calls per second, of all callers together
 * @param p50 the median latency in nanoseconds
 * @param p99 the 99th percentile
 * @param max the maximum
 */
record CallFigures(double perSecond, double p50, double p99, double max) {
  static final String RATE = "callsPerSecond";
  static final String P50 = "latencyP50Nanos";
  static final String P99 = "latencyP99Nanos";
  static final String MAX = "latencyMaxNanos";

  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  static Histogram histogram() {
    return new Histogram(LONGEST_NANOS, 3);
  }

  static CallFigures of(Histogram latencies, long nanos) {
    return new CallFigures(
        latencies.getTotalCount() * 1e9 / nanos,
        latencies.getValueAtPercentile(50),
        latencies.getValueAtPercentile(99),
        latencies.getMaxValue());
  }

  static CallFigures parse(String line) {
    double[] figures = Stream.of(line.split(" ", -1)).mapToDouble(Double::parseDouble).toArray();
    return new CallFigures(figures[0], figures[1], figures[2], figures[3]);
  }

  /** A line for {@link #parse}. */
  String line() {
    return DoubleStream.of(perSecond, p50, p99, max)
        .mapToObj(Double::toString)
        .collect(Collectors.joining(" "));
  }

  Map<String, Double> metrics() {
    var metrics = new LinkedHashMap<String, Double>();
    metrics.put(RATE, perSecond);
    metrics.put(P50, p50);
    metrics.put(P99, p99);
    metrics.put(MAX, max);
    return metrics;
  }
}
