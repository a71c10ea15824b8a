package dev.belfry.workers;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;
import org.jspecify.annotations.Nullable;

/**
 * How long the calls of one worker take. Recording costs some ten nanoseconds, allocates nothing
 * and never waits: two histograms take turns, one for the thread that records and one for whoever
 * looks.
 */
final class LatencyMeter {
  /** Nobody cares about anything finer; this saves memory. */
  private static final long FINEST_NANOS = 16;

  private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final int DIGITS = 2;

  private final SingleWriterRecorder recorder =
      new SingleWriterRecorder(FINEST_NANOS, LONGEST_NANOS, DIGITS);

  /** What the recorder gave last and wants back; for {@link #moveTo} only. */
  private @Nullable Histogram looked;

  private volatile Latency last = Latency.NONE;

  /** An empty histogram that has room for what is recorded. */
  static Histogram newHistogram() {
    return new Histogram(FINEST_NANOS, LONGEST_NANOS, DIGITS);
  }

  /** For the thread that reads the worker's answers, of which there is one at a time. */
  void record(long nanos) {
    recorder.recordValue(Math.clamp(nanos, 0, LONGEST_NANOS));
  }

  /** Adds what was recorded since the last time. One thread at a time. */
  void moveTo(Histogram sum) {
    Histogram recent = recorder.getIntervalHistogram(looked);
    looked = recent;
    last = Latency.of(recent);
    sum.add(recent);
  }

  /** Of what was moved last. Any thread. */
  Latency last() {
    return last;
  }
}
