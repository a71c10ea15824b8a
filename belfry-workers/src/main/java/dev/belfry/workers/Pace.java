package dev.belfry.workers;

/**
 * Whether the calls of a method are so short that handing them to another thread would take longer.
 * For any number of threads, which may miss some of each other's results.
 */
final class Pace {
  /** About what it takes to wake a thread. */
  static final long SHORT_NANOS = 10_000;

  private static final int MAX = 32;

  /** So many short calls in a row are enough to begin with. */
  private static final int ENOUGH = 16;

  /** Not all of the score, because now and then a machine makes any call long. */
  private static final int FOR_A_LONG_ONE = 8;

  private final int enough;

  /** One for each short call, up to a limit. */
  private volatile int score;

  Pace() {
    this(ENOUGH);
  }

  private Pace(int enough) {
    this.enough = enough;
  }

  /** Of calls that are handed over however short they are. */
  static Pace neverShort() {
    return new Pace(MAX + 1);
  }

  boolean isShort() {
    return score >= enough;
  }

  /** A call took this long. */
  void took(long nanos) {
    int before = score;
    int after =
        nanos < SHORT_NANOS ? Math.min(MAX, before + 1) : Math.max(0, before - FOR_A_LONG_ONE);
    if (after != before) {
      score = after;
    }
  }
}
