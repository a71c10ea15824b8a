package dev.belfry.workers;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long the calls of one worker take. Recording costs some ten nanoseconds, allocates
 * nothing and never waits: two histograms take turns, one for the recording thread and one for the
 * reader.
 */
final class LatencyMeter {
  /** Anything finer would only cost memory. */
  private static final long FINEST_NANOS = 16;

  private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final int DIGITS = 2;

  private final SingleWriterRecorder recorder =
      new SingleWriterRecorder(FINEST_NANOS, LONGEST_NANOS, DIGITS);

  /** The histogram that the recorder gave last and takes back; for {@link #moveTo} only. */
  private @Nullable Histogram looked;

  private volatile Latency last = Latency.NONE;

  /** An empty histogram with the range of the recorder. */
  static Histogram newHistogram() {
    return new Histogram(FINEST_NANOS, LONGEST_NANOS, DIGITS);
  }

  /** Records a call. For the thread that has the turn to receive the worker's answers. */
  void record(long nanos) {
    recorder.recordValue(Math.clamp(nanos, 0, LONGEST_NANOS));
  }

  /** Adds what was recorded since the last time to a sum. One thread at a time. */
  void moveTo(Histogram sum) {
    Histogram recent = recorder.getIntervalHistogram(looked);
    looked = recent;
    last = Latency.of(recent);
    sum.add(recent);
  }

  /** The latency over what was moved last. For any thread. */
  Latency last() {
    return last;
  }
}
