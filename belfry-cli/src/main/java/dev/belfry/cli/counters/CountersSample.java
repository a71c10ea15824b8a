package dev.belfry.cli.counters;

import dev.belfry.workers.PoolStatus;
import java.time.Duration;
import java.time.Instant;

/**
 * What a host said about itself at one moment.
 *
 * @param number increases with each sample
 * @param pid its process
 * @param startedAt when it began to write counters
 * @param sampledAtNanos when this was, on the clock of {@link System#nanoTime}, which on Linux all
 *     processes of a machine share
 * @param period how often it writes a sample
 * @param pool the status of its workers
 */
public record CountersSample(
    long number,
    long pid,
    Instant startedAt,
    long sampledAtNanos,
    Duration period,
    PoolStatus pool) {
  /** After this many periods without another sample, something is wrong with the host. */
  private static final int PATIENCE = 3;

  /** How old it is now. */
  public Duration age() {
    return Duration.ofNanos(Math.max(0, System.nanoTime() - sampledAtNanos));
  }

  /** Whether the host should have written another one long ago: it hangs, is stopped or dead. */
  public boolean isStale() {
    return age().compareTo(period.multipliedBy(PATIENCE)) > 0;
  }
}
