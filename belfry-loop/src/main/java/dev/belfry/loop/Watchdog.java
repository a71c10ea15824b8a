package dev.belfry.loop;

import static java.lang.System.Logger.Level.WARNING;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Checks several times per threshold whether a loop is still in the same turn, and reports once
 * what keeps it there.
 */
final class Watchdog implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Watchdog.class.getName());
  private static final int LOOKS = 4;

  private final List<EventLoop> loops;
  private final long thresholdNanos;
  private final long[] progress;
  private final long[] since;
  private final boolean[] reported;
  private volatile boolean closed;
  private @Nullable Thread thread;

  private Watchdog(List<EventLoop> loops, Duration threshold) {
    this.loops = loops;
    this.thresholdNanos = Scheduler.nanosOf(threshold);
    this.progress = new long[loops.size()];
    Arrays.fill(progress, -1); // nothing seen yet, so the first check sets the time
    this.since = new long[loops.size()];
    this.reported = new boolean[loops.size()];
  }

  static Watchdog start(List<EventLoop> loops, Duration threshold) {
    var watchdog = new Watchdog(loops, threshold);
    watchdog.thread = Thread.ofPlatform().daemon().name("belfry-watchdog").start(watchdog::watch);
    return watchdog;
  }

  private void watch() {
    while (!closed) {
      for (int i = 0; i < loops.size(); i++) {
        look(i, loops.get(i));
      }
      LockSupport.parkNanos(thresholdNanos / LOOKS);
    }
  }

  private void look(int index, EventLoop loop) {
    long now = System.nanoTime();
    long current = loop.metrics().progress();
    if (current != progress[index] || loop.metrics().isAsleep()) {
      progress[index] = current;
      since[index] = now;
      reported[index] = false;
    } else if (!reported[index] && now - since[index] >= thresholdNanos) {
      reported[index] = true;
      report(loop, now - since[index]);
    }
  }

  private static void report(EventLoop loop, long nanos) {
    Thread owner = loop.owner();
    if (owner == null) {
      return;
    }
    Coroutine<?> coroutine = loop.work.runningCoroutine();
    Thread busy = coroutine != null ? coroutine.thread() : owner;
    var where = new StringBuilder();
    for (StackTraceElement frame : busy.getStackTrace()) {
      where.append("\n\tat ").append(frame);
    }
    LOG.log(
        WARNING,
        "{0} has kept {1} for {2} ms:{3}",
        coroutine != null ? coroutine : "a callback",
        owner.getName(),
        nanos / 1_000_000,
        where);
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
