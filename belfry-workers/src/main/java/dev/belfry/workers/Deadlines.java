package dev.belfry.workers;

import dev.belfry.loop.EventLoop;
import dev.belfry.loop.TimerOperation;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Ends overdue calls that complete a future, because no thread waits for them. Scans all of them at
 * intervals while there are any: cheaper than a timer for each, most of which would never fire.
 */
final class Deadlines {
  private static final Duration PERIOD = Duration.ofMillis(10);

  private final EventLoop loop;
  private final Set<Call> watched = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean running = new AtomicBoolean();
  private final TimerOperation timer;

  Deadlines(EventLoop loop) {
    this.loop = loop;
    this.timer = loop.scheduler().after(PERIOD);
  }

  void watch(Call call) {
    watched.add(call);
    startIfNeeded();
  }

  private void startIfNeeded() {
    if (!watched.isEmpty() && running.compareAndSet(false, true)) {
      try {
        loop.scheduler().execute(() -> timer.start(_ -> look()));
      } catch (RejectedExecutionException e) {
        watched.clear(); // the pool has ended, and with it the calls
      }
    }
  }

  private void look() {
    try {
      watched.removeIf(
          call -> {
            if (!call.isDone() && call.isOverdue()) {
              call.failOverdue();
            }
            return call.isDone();
          });
    } finally { // even after an error, or no other call would end in time
      running.set(false);
      startIfNeeded(); // after the reset, so that no call added meanwhile is missed
    }
  }
}
