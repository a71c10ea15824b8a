package dev.belfry.bench.timers;

import java.util.concurrent.Semaphore;

/**
 * Timers that fire on their own thread and are armed from another, here the caller's.
 *
 * @param <T> represents an armed timer
 */
abstract class ThreadedTimers<T> implements Timers {
  abstract T arm(Runnable action, long delayNanos);

  abstract void cancel(T timer);

  @Override
  public final void fill(int count) {
    Delays delays = Delays.far();
    for (int i = 0; i < count; i++) {
      arm(() -> {}, delays.next());
    }
  }

  @Override
  public final Pace armAndCancel(long nanos) {
    Delays delays = Delays.far();
    Runnable action = () -> {};
    Object[] timers = new Object[CANCEL_BATCH];
    long began = System.nanoTime();
    long operations = 0;
    long elapsed;
    do {
      for (int i = 0; i < timers.length; i++) {
        timers[i] = arm(action, delays.next());
      }
      for (Object timer : timers) {
        @SuppressWarnings("unchecked") // contains only what arm returned
        T armed = (T) timer;
        cancel(armed);
      }
      operations += timers.length;
      elapsed = System.nanoTime() - began;
    } while (elapsed < nanos);
    return new Pace(operations, elapsed);
  }

  @Override
  public final Pace armAndFire(long nanos) throws InterruptedException {
    Delays delays = Delays.soon();
    var batch = new Batch();
    long began = System.nanoTime();
    long operations = 0;
    long elapsed;
    do {
      for (int i = 0; i < FIRE_BATCH; i++) {
        arm(batch, delays.next());
      }
      batch.complete.acquire();
      operations += FIRE_BATCH;
      elapsed = System.nanoTime() - began;
    } while (elapsed < nanos);
    return new Pace(operations, elapsed);
  }

  @Override
  public final long[] lateness(int count, long delayNanos) throws InterruptedException {
    long[] late = new long[count];
    var fired = new Semaphore(0);
    var at = new long[1];
    for (int i = 0; i < count; i++) {
      long armed = System.nanoTime();
      arm(
          () -> {
            at[0] = System.nanoTime();
            fired.release();
          },
          delayNanos);
      fired.acquire();
      late[i] = at[0] - armed - delayNanos;
    }
    return late;
  }

  /** Counts on the timers' thread, and signals when all have fired. */
  private static final class Batch implements Runnable {
    private final Semaphore complete = new Semaphore(0);
    private int fired;

    @Override
    public void run() {
      if (++fired == FIRE_BATCH) {
        fired = 0;
        complete.release();
      }
    }
  }
}
