package dev.belfry.bench.timers;

/**
 * A fresh set of timers of some contender. The work is done where its users do it: on the loop
 * thread if there is one, else on the calling thread.
 */
interface Timers extends AutoCloseable {
  /** Timers that are armed, and then cancelled or awaited, together. */
  int CANCEL_BATCH = 1024;

  /** More of them, because some contenders look at their timers once in a millisecond only. */
  int FIRE_BATCH = 16 * 1024;

  /** Leaves so many timers pending that are far away. */
  void fill(int count) throws Exception;

  /** Arms and cancels batches of timers for a time; what came of it. */
  Pace armAndCancel(long nanos) throws Exception;

  /** Arms batches of timers and lets them fire, for a time; what came of it. */
  Pace armAndFire(long nanos) throws Exception;

  /** Arms one timer after the other; how many nanoseconds each fired after its time. */
  long[] lateness(int count, long delayNanos) throws Exception;

  @Override
  void close();

  /**
   * How much was done in which time.
   *
   * @param operations timers that were armed, and cancelled or fired
   * @param nanos the time
   */
  record Pace(long operations, long nanos) {
    double perSecond() {
      return operations * 1e9 / nanos;
    }
  }
}
