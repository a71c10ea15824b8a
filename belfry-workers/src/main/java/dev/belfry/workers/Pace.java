package dev.belfry.workers;

/**
 * Tells whether the calls of a method are so short that handing them to another thread would take
 * longer. For any number of threads, which may overwrite each other's updates.
 */
final class Pace {
  /** About what it costs to wake a thread. */
  static final long SHORT_NANOS = 10_000;

  private static final int MAX = 32;

  /** At first, this many short calls in a row are enough. */
  private static final int ENOUGH = 16;

  /** Taken off for a long call. Not the whole score, because any call may be slow now and then. */
  private static final int FOR_A_LONG_ONE = 8;

  private final int enough;

  /** One point for each short call, up to a limit. */
  private volatile int score;

  Pace() {
    this(ENOUGH);
  }

  private Pace(int enough) {
    this.enough = enough;
  }

  /** The pace of calls that are always handed over, however short. */
  static Pace neverShort() {
    return new Pace(MAX + 1);
  }

  boolean isShort() {
    return score >= enough;
  }

  /** Records how long a call took. */
  void took(long nanos) {
    int before = score;
    int after =
        nanos < SHORT_NANOS ? Math.min(MAX, before + 1) : Math.max(0, before - FOR_A_LONG_ONE);
    if (after != before) {
      score = after;
    }
  }
}
