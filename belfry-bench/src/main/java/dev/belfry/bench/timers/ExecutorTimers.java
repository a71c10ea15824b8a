package dev.belfry.bench.timers;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The JDK's scheduled executor with one thread, which removes cancelled timers at once. */
final class ExecutorTimers extends ThreadedTimers<Future<?>> {
  private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);

  ExecutorTimers() {
    executor.setRemoveOnCancelPolicy(true);
  }

  @Override
  Future<?> arm(Runnable action, long delayNanos) {
    return executor.schedule(action, delayNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  void cancel(Future<?> timer) {
    timer.cancel(false);
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
