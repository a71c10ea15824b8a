package dev.belfry.workers;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/**
 * Counts a pool's calls and how they end, and computes the rate and latency of the last second.
 * Counting is thread-safe.
 */
final class CallMeter {
  private final LongAdder finished = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder repeated = new LongAdder();
  private final LongAdder deadLetters = new LongAdder();

  /**
   * What was recorded since the last {@link #turn}. This and the next two belong to the loop
   * thread.
   */
  private final Histogram recent = LatencyMeter.newHistogram();

  private long turnNanos;
  private long finishedBefore;

  private volatile Second last = new Second(0, Latency.NONE);

  /**
   * The figures of one second.
   *
   * @param callsPerSecond how many calls were answered
   */
  record Second(double callsPerSecond, Latency latency) {}

  CallMeter(long nowNanos) {
    this.turnNanos = nowNanos;
  }

  void finished() {
    finished.increment();
  }

  void failed(CallException reason) {
    failed.increment();
    if (reason instanceof DeadLetter) {
      deadLetters.increment();
    }
  }

  void cancelled() {
    failed.increment();
  }

  void repeated() {
    repeated.increment();
  }

  long finishedCount() {
    return finished.sum();
  }

  long failedCount() {
    return failed.sum();
  }

  long repeatedCount() {
    return repeated.sum();
  }

  long deadLetterCount() {
    return deadLetters.sum();
  }

  Second last() {
    return last;
  }

  /** Keeps what a worker has recorded since the last turn, because it leaves. */
  void keep(LatencyMeter worker) {
    worker.moveTo(recent);
  }

  /** Ends a second: computes its figures and begins the next. */
  void turn(List<LatencyMeter> workers, long nowNanos) {
    workers.forEach(this::keep);
    long finishedNow = finished.sum();
    double seconds = Math.max(1, nowNanos - turnNanos) / (double) TimeUnit.SECONDS.toNanos(1);
    last = new Second((finishedNow - finishedBefore) / seconds, Latency.of(recent));
    recent.reset();
    turnNanos = nowNanos;
    finishedBefore = finishedNow;
  }
}
