package dev.belfry.workers;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether and when a worker is started after another has died. After each worker that dies
 * before it has served, the next is started later. After too many in a row that had not even been
 * given a call, none is: then the circuit is open, until somebody resets it. Who dies of a call can
 * be started, and others need it. Any thread may look and reset; the rest is for the loop thread.
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

  /** How many in a row died before they had served, of a call or without. */
  private int unserved;

  /** How many of those had done nothing. */
  private volatile int deathsInARow;

  /** The death that was one too many. */
  private volatile @Nullable Death opening;

  /** What a worker had done before it died. */
  enum Done {
    NOTHING,
    /** It was given a call, and had finished none. */
    CALL_BEGUN,
    /** It had finished a call, or been ready for long enough. */
    SERVED
  }

  CrashLoop(int limit, Duration first, Duration longest, RandomGenerator random) {
    this.limit = limit;
    this.firstMillis = millis(first);
    this.longestMillis = millis(longest);
    this.random = random;
  }

  private static long millis(Duration delay) {
    return Math.min(TimeUnit.MILLISECONDS.convert(delay), FOREVER_MILLIS);
  }

  /** How many workers died having done nothing, and none in between has served. */
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
   * @param done what it had done before
   * @return whether this was one too many
   */
  synchronized boolean died(Death death, Done done) {
    if (done == Done.SERVED) {
      served();
      return false;
    }
    unserved++;
    if (done == Done.CALL_BEGUN) {
      return false;
    }
    int inARow = deathsInARow + 1;
    deathsInARow = inARow;
    if (inARow < limit || isOpen()) {
      return false;
    }
    opening = death;
    return true;
  }

  /** A worker serves, or has served: those that died before it were no row. */
  synchronized void served() {
    if (!isOpen()) {
      deathsInARow = 0;
      unserved = 0;
    }
  }

  /** At once, so that whoever has done it is not told any more that the circuit is open. */
  synchronized void reset() {
    opening = null;
    deathsInARow = 0;
    unserved = 0;
  }

  /** How long to wait: twice as long for each death in a row, and not the same for all. */
  synchronized Duration pause() {
    if (unserved == 0) {
      return Duration.ZERO;
    }
    int doublings = Math.min(unserved - 1, MAX_DOUBLINGS);
    long whole = Math.min(longestMillis, firstMillis << doublings);
    return Duration.ofMillis(random.nextLong(whole / 2, whole + 1));
  }
}
