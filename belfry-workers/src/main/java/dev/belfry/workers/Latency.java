package dev.belfry.workers;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * How long the calls that were answered in the last whole second took, from when they were made: to
 * within one percent, and all zero if there were none.
 *
 * @param p50Nanos half of them took this long or less
 * @param p99Nanos 99 of 100 took this long or less
 * @param maxNanos the longest took this long
 */
public record Latency(long p50Nanos, long p99Nanos, long maxNanos) {
  /** There were no calls. */
  public static final Latency NONE = new Latency(0, 0, 0);

  static Latency of(Histogram calls) {
    return calls.getTotalCount() == 0
        ? NONE
        : new Latency(
            calls.getValueAtPercentile(50), calls.getValueAtPercentile(99), calls.getMaxValue());
  }

  /** The same in whole microseconds, of which a call takes a few. */
  public long p50Micros() {
    return TimeUnit.NANOSECONDS.toMicros(p50Nanos);
  }

  /** The same in whole microseconds. */
  public long p99Micros() {
    return TimeUnit.NANOSECONDS.toMicros(p99Nanos);
  }

  /** The same in whole microseconds. */
  public long maxMicros() {
    return TimeUnit.NANOSECONDS.toMicros(maxNanos);
  }
}
