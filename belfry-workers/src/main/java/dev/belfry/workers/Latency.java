package dev.belfry.workers;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * How long the calls answered in the last whole second took, from the moment they were made.
 * Accurate to one percent; all zero if there were none.
 *
 * @param p50Nanos the median
 * @param p99Nanos the 99th percentile
 * @param maxNanos the longest
 */
public record Latency(long p50Nanos, long p99Nanos, long maxNanos) {
  /** No calls. */
  public static final Latency NONE = new Latency(0, 0, 0);

  static Latency of(Histogram calls) {
    return calls.getTotalCount() == 0
        ? NONE
        : new Latency(
            calls.getValueAtPercentile(50), calls.getValueAtPercentile(99), calls.getMaxValue());
  }

  /** The median in whole microseconds. */
  public long p50Micros() {
    return TimeUnit.NANOSECONDS.toMicros(p50Nanos);
  }

  /** The 99th percentile in whole microseconds. */
  public long p99Micros() {
    return TimeUnit.NANOSECONDS.toMicros(p99Nanos);
  }

  /** The longest in whole microseconds. */
  public long maxMicros() {
    return TimeUnit.NANOSECONDS.toMicros(maxNanos);
  }
}
