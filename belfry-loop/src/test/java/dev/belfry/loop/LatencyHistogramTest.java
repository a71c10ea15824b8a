package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class LatencyHistogramTest {

  @Test
  void anEmptyHistogramSaysZero() {
    var histogram = new LatencyHistogram();
    assertThat(histogram.count()).isZero();
    assertThat(histogram.percentile(0.5)).isZero();
  }

  @Test
  void everyValueIsKnownToAnEighth() {
    for (int bit = 0; bit < Long.SIZE - 1; bit++) {
      for (long value : new long[] {1L << bit, (1L << bit) + 1, (1L << bit) * 2 - 1}) {
        var histogram = new LatencyHistogram();
        histogram.record(value);
        long known = histogram.percentile(1);
        assertThat(known).isGreaterThanOrEqualTo(value);
        assertThat(known - value).isLessThanOrEqualTo(value / 8);
      }
    }
  }

  @Test
  void negativeAndHugeValuesAreKept() {
    var histogram = new LatencyHistogram();
    histogram.record(-1);
    histogram.record(Long.MIN_VALUE);
    histogram.record(Long.MAX_VALUE);
    assertThat(histogram.count()).isEqualTo(3);
    assertThat(histogram.percentile(0.5)).isZero();
    assertThat(histogram.percentile(1)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void percentilesAgreeWithSortedValues() {
    var histogram = new LatencyHistogram();
    var random = new Random(7);
    long[] values = random.longs(10_000, 0, 1_000_000_000).toArray();
    Arrays.stream(values).forEach(histogram::record);
    Arrays.sort(values);
    for (double part : new double[] {0.01, 0.5, 0.9, 0.99, 0.999, 1}) {
      long exact = values[(int) Math.ceil(values.length * part) - 1];
      assertThat(histogram.percentile(part)).isBetween(exact, exact + exact / 8 + 1);
    }
  }
}
