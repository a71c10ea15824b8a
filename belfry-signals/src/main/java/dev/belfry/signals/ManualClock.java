package dev.belfry.signals;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A clock for tests. It stands still until {@link #advance} is called. */
public final class ManualClock implements SignalClock {
  private final PriorityQueue<Waiting> timers =
      new PriorityQueue<>(Comparator.comparingLong(it -> it.atNanos));
  private long nanos;

  /** Creates a clock at zero. */
  public ManualClock() {}

  private static final class Waiting {
    final long atNanos;
    final Runnable action;

    Waiting(long atNanos, Runnable action) {
      this.atNanos = atNanos;
      this.action = action;
    }
  }

  @Override
  public synchronized long nanoTime() {
    return nanos;
  }

  @Override
  public synchronized Timer after(Duration delay, Runnable action) {
    long most = Long.MAX_VALUE - nanos;
    var timer = new Waiting(nanos + Math.min(most, TimeUnit.NANOSECONDS.convert(delay)), action);
    timers.add(timer);
    return () -> remove(timer);
  }

  private synchronized void remove(Waiting timer) {
    timers.remove(timer);
  }

  /** Advances the time, running the actions that fall due on the calling thread. */
  public void advance(Duration time) {
    long until = nanoTime() + time.toNanos();
    for (Waiting due = takeDue(until); due != null; due = takeDue(until)) {
      due.action.run();
    }
    synchronized (this) {
      nanos = until;
    }
  }

  private synchronized @Nullable Waiting takeDue(long untilNanos) {
    Waiting first = timers.peek();
    if (first == null || first.atNanos > untilNanos) {
      return null;
    }
    nanos = Math.max(nanos, first.atNanos);
    return timers.poll();
  }
}
