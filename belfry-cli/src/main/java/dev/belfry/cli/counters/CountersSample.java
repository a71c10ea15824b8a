package dev.belfry.cli.counters;

import dev.belfry.workers.PoolStatus;
import java.time.Duration;
import java.time.Instant;

/**
 * A snapshot of a host's counters.
 *
 * @param number increases with each sample
 * @param pid the host's process id
 * @param startedAt when the host began to write counters
 * @param sampledAtNanos when the sample was taken, on the clock of {@link System#nanoTime}, which
 *     all processes of a Linux machine share
 * @param period how often the host writes a sample
 * @param pool the status of the host's workers
 */
public record CountersSample(
    long number,
    long pid,
    Instant startedAt,
    long sampledAtNanos,
    Duration period,
    PoolStatus pool) {
  /** After this many periods without a new sample, something is wrong with the host. */
  private static final int PATIENCE = 3;

  /** Returns the age of this sample. */
  public Duration age() {
    return Duration.ofNanos(Math.max(0, System.nanoTime() - sampledAtNanos));
  }

  /** Whether the host is long overdue with the next sample: it hangs, is stopped or is dead. */
  public boolean isStale() {
    return age().compareTo(period.multipliedBy(PATIENCE)) > 0;
  }
}
