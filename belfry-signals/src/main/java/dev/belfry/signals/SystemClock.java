package dev.belfry.signals;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The real clock, with one thread for its timers. */
final class SystemClock implements SignalClock {
  private final ScheduledThreadPoolExecutor timers;

  SystemClock() {
    timers =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("belfry-signals-clock").factory());
    timers.setRemoveOnCancelPolicy(true);
    // Before it is needed: at the end of a process there may be no memory left for a thread.
    timers.prestartAllCoreThreads();
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Timer after(Duration delay, Runnable action) {
    long nanos = TimeUnit.NANOSECONDS.convert(delay); // at most 292 years, which is for ever
    Future<?> timer = timers.schedule(action, nanos, TimeUnit.NANOSECONDS);
    return () -> timer.cancel(false);
  }

  @Override
  public void close() {
    timers.shutdownNow();
  }
}
