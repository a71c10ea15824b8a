package dev.belfry.workers;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether and when a worker is started after another has died. After each worker that dies
 * before it has served, the next is started later, and after too many in a row none is: then the
 * circuit is open, until somebody resets it. Any thread may look and reset; the rest is for the
 * loop thread.
 */
final class CrashLoop {
  /** Enough for any delay. */
  private static final int MAX_DOUBLINGS = 20;

  /** Hundreds of years, which can be doubled so often. */
  private static final long FOREVER_MILLIS = Long.MAX_VALUE >> MAX_DOUBLINGS;

  private final int limit;
  private final long firstMillis;
  private final long longestMillis;
  private final RandomGenerator random;

  private volatile int deathsInARow;

  /** The death that was one too many. */
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

  /** Whether there were too many of them. */
  boolean isOpen() {
    return opening != null;
  }

  /** Why calls are to fail while there is no worker; null if there are to be workers. */
  @Nullable CircuitOpen failure() {
    Death last = opening;
    return last == null ? null : new CircuitOpen(deathsInARow, last);
  }

  /**
   * A worker has died.
   *
   * @param death how
   * @param served whether it had done something before
   * @return whether this was one too many
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

  /** A worker serves, or has served: those that died before it were no row. */
  synchronized void served() {
    if (!isOpen()) {
      deathsInARow = 0;
    }
  }

  /** At once, so that whoever has done it is not told any more that the circuit is open. */
  synchronized void reset() {
    opening = null;
    deathsInARow = 0;
  }

  /** How long to wait: twice as long for each death in a row, and not the same for all. */
  Duration pause() {
    if (deathsInARow == 0) {
      return Duration.ZERO;
    }
    int doublings = Math.min(deathsInARow - 1, MAX_DOUBLINGS);
    long whole = Math.min(longestMillis, firstMillis << doublings);
    return Duration.ofMillis(random.nextLong(whole / 2, whole + 1));
  }
}
