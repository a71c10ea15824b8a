package dev.belfry.bench.crash;

import org.HdrHistogram.Histogram;

/** What became of calls. For one thread. */
final class Tally {
  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  /** From the kill of its worker to the end of a call that had no answer then. */
  final Histogram added = new Histogram(LONGEST_NANOS, 3);

  long calls;
  long failed;

  /** Neither answered nor failed in time. */
  long lost;

  /** Their effect is there twice. */
  long duplicates;

  /** They were answered, but their effect is not there. */
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
