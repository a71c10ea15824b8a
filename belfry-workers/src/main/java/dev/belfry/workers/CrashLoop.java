package dev.belfry.workers;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether and when a worker is started after another has died. Each worker that dies before
 * it has served delays the next start; too many in a row open the circuit, and none is started
 * until it is reset. Any thread may query and reset; the rest is for the loop thread.
 */
final class CrashLoop {
  /** Enough for any delay. */
  private static final int MAX_DOUBLINGS = 20;

  /** Hundreds of years; can be doubled that often without overflow. */
  private static final long FOREVER_MILLIS = Long.MAX_VALUE >> MAX_DOUBLINGS;

  private final int limit;
  private final long firstMillis;
  private final long longestMillis;
  private final RandomGenerator random;

  private volatile int deathsInARow;

  /** The death that opened the circuit; null while it is closed. */
  private volatile @Nullable Death opening;

  CrashLoop(int limit, Duration first, Duration longest, RandomGenerator random) {
    this.limit = limit;
    this.firstMillis = millis(first);
    this.longestMillis = millis(longest);
    this.random = random;
  }

  private static long millis(Duration delay) {
    return Math.min(TimeUnit.MILLISECONDS.convert(delay), FOREVER_MILLIS);
  }

  /** How many workers in a row died before they had served. */
  int deathsInARow() {
    return deathsInARow;
  }

  /** Whether the circuit is open. */
  boolean isOpen() {
    return opening != null;
  }

  /** Why calls must fail while there is no worker; null if the circuit is closed. */
  @Nullable CircuitOpen failure() {
    Death last = opening;
    return last == null ? null : new CircuitOpen(deathsInARow, last);
  }

  /**
   * Records the death of a worker.
   *
   * @param death how it died
   * @param served whether it had served before
   * @return whether this death opened the circuit
   */
  synchronized boolean died(Death death, boolean served) {
    if (served) {
      served();
      return false;
    }
    if (isOpen()) { // those that were there already do not count
      return false;
    }
    int inARow = deathsInARow + 1;
    deathsInARow = inARow;
    if (inARow < limit) {
      return false;
    }
    opening = death;
    return true;
  }

  /** Records that a worker serves, or has served: the deaths before it no longer count. */
  synchronized void served() {
    if (!isOpen()) {
      deathsInARow = 0;
    }
  }

  /** Closes the circuit at once, so that the caller is no longer told that it is open. */
  synchronized void reset() {
    opening = null;
    deathsInARow = 0;
  }

  /** The delay before the next start: doubled by each death in a row, with jitter. */
  Duration pause() {
    if (deathsInARow == 0) {
      return Duration.ZERO;
    }
    int doublings = Math.min(deathsInARow - 1, MAX_DOUBLINGS);
    long whole = Math.min(longestMillis, firstMillis << doublings);
    return Duration.ofMillis(random.nextLong(whole / 2, whole + 1));
  }
}
