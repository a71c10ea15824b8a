package dev.belfry.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A histogram of durations with eight buckets per power of two, so that a value is exact to an
 * eighth. One thread records, in a few nanoseconds and without allocating; any thread may read.
 */
public final class LatencyHistogram {
  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int SUB_BITS = 3;
  private static final int SUBS = 1 << SUB_BITS;

  private final long[] counts = new long[(Long.SIZE - SUB_BITS) * SUBS];

  LatencyHistogram() {}

  void record(long nanos) {
    int bucket = bucket(Math.max(0, nanos));
    COUNT.setOpaque(counts, bucket, (long) COUNT.getOpaque(counts, bucket) + 1);
  }

  /** The number of recorded durations. */
  public long count() {
    long sum = 0;
    for (int i = 0; i < counts.length; i++) {
      sum += (long) COUNT.getOpaque(counts, i);
    }
    return sum;
  }

  /**
   * The duration that the given fraction of all durations did not exceed.
   *
   * @param part between 0 and 1, such as 0.99
   * @return nanoseconds, rounded up to the end of the bucket; zero if nothing was recorded
   */
  public long percentile(double part) {
    long rank = (long) Math.ceil(count() * part);
    for (int i = 0; i < counts.length && rank > 0; i++) {
      rank -= (long) COUNT.getOpaque(counts, i);
      if (rank <= 0) {
        return upperBound(i);
      }
    }
    return 0;
  }

  private static int bucket(long nanos) {
    if (nanos < SUBS) {
      return (int) nanos;
    }
    int power = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
    int sub = (int) (nanos >>> (power - SUB_BITS)) & (SUBS - 1);
    return (power - SUB_BITS + 1) * SUBS + sub;
  }

  private static long upperBound(int bucket) {
    if (bucket < SUBS) {
      return bucket;
    }
    int shift = bucket / SUBS - 1;
    return ((long) (SUBS + bucket % SUBS + 1) << shift) - 1;
  }
}
