package dev.belfry.bench.crash;

import org.HdrHistogram.Histogram;

/** Counts how calls ended. For one thread. */
final class Tally {
  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  /** The time from the kill of its worker to the end of a call that was unanswered then. */
  final Histogram added = new Histogram(LONGEST_NANOS, 3);

  long calls;
  long failed;

  /** Calls neither answered nor failed in time. */
  long lost;

  /** Calls whose effect is there twice. */
  long duplicates;

  /** Calls that were answered without their effect. */
  long withoutEffect;

  void add(Tally other) {
    added.add(other.added);
    calls += other.calls;
    failed += other.failed;
    lost += other.lost;
    duplicates += other.duplicates;
    withoutEffect += other.withoutEffect;
  }
}
