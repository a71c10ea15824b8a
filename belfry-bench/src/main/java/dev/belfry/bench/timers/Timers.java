package dev.belfry.bench.timers;

/**
 * A fresh set of a contender's timers. The work is done where users do it: on the loop thread if
 * there is one, otherwise on the calling thread.
 */
interface Timers extends AutoCloseable {
  /** The timers that are armed together, and then cancelled or awaited. */
  int CANCEL_BATCH = 1024;

  /** More of them, because some contenders check their timers only once a millisecond. */
  int FIRE_BATCH = 16 * 1024;

  /** Leaves this many far-away timers pending. */
  void fill(int count) throws Exception;

  /** Arms and cancels batches of timers for a time; returns the pace. */
  Pace armAndCancel(long nanos) throws Exception;

  /** Arms batches of timers and lets them fire, for a time; returns the pace. */
  Pace armAndFire(long nanos) throws Exception;

  /** Arms one timer after another; returns by how many nanoseconds each was late. */
  long[] lateness(int count, long delayNanos) throws Exception;

  @Override
  void close();

  /**
   * How much was done in how much time.
   *
   * @param operations timers armed, and cancelled or fired
   * @param nanos the time
   */
  record Pace(long operations, long nanos) {
    double perSecond() {
      return operations * 1e9 / nanos;
    }
  }
}
