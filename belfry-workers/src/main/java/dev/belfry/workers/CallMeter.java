package dev.belfry.workers;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/**
 * Counts the calls of a pool and how they end, and says how many there were in the last second and
 * how long they took. Counting is for any thread.
 */
final class CallMeter {
  private final LongAdder finished = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder repeated = new LongAdder();
  private final LongAdder deadLetters = new LongAdder();

  /** What has been moved here since the last turn. This and the next two are the loop thread's. */
  private final Histogram recent = LatencyMeter.newHistogram();

  private long turnNanos;
  private long finishedBefore;

  private volatile Second last = new Second(0, Latency.NONE);

  /**
   * What happened in a second.
   *
   * @param callsPerSecond how many calls got their answer
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

  /** A worker leaves: what it did since the last turn still counts. */
  void keep(LatencyMeter worker) {
    worker.moveTo(recent);
  }

  /** A second is over. */
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
