package dev.belfry.signals;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The system's monotonic clock, with one thread for its timers. */
final class SystemClock implements SignalClock {
  private final ScheduledThreadPoolExecutor timers;

  SystemClock() {
    timers =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("belfry-signals-clock").factory());
    timers.setRemoveOnCancelPolicy(true);
    // Start the thread now: by the time of a shutdown there may be no memory left for one.
    timers.prestartAllCoreThreads();
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Timer after(Duration delay, Runnable action) {
    long nanos = TimeUnit.NANOSECONDS.convert(delay); // saturates at 292 years
    Future<?> timer = timers.schedule(action, nanos, TimeUnit.NANOSECONDS);
    return () -> timer.cancel(false);
  }

  @Override
  public void close() {
    timers.shutdownNow();
  }
}
