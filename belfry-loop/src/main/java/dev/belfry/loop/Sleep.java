package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;
import static java.lang.System.Logger.Level.ERROR;

import dev.belfry.linux.ErrnoException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How a loop sleeps and how other threads wake it: with a system call only if it sleeps and would
 * sleep too long.
 */
final class Sleep {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  /** A deadline: wake up at once. As {@link #until}: awake, will check for work before sleeping. */
  static final long AWAKE = Driver.NOW;

  /** A deadline: sleep until woken. */
  static final long FOREVER = Driver.FOREVER;

  private static final VarHandle UNTIL =
      FieldHandle.of(MethodHandles.lookup(), "until", long.class);

  private final Driver driver;
  private final Work work;
  private final LoopMetrics metrics;
  private final long busyPollNanos;

  /**
   * When the sleeping loop wakes up by itself, a time of the clock or {@link #FOREVER}; {@link
   * #AWAKE} if it does not sleep. Before it sleeps, the loop writes this and then checks for posted
   * work; a producer posts and then reads this. All these accesses are volatile, so at least one
   * sees the other's write and no wake-up is lost.
   */
  private volatile long until = AWAKE;

  /** Set by a thread that wants the loop to look around without posting a task. */
  private volatile boolean nudged;

  /** The number of threads that may be about to write to the wake-up descriptor. */
  private final AtomicInteger wakers = new AtomicInteger();

  Sleep(Driver driver, Work work, LoopMetrics metrics, long busyPollNanos) {
    this.driver = driver;
    this.work = work;
    this.metrics = metrics;
    this.busyPollNanos = busyPollNanos;
  }

  /** Waits for events until the deadline or until woken; returns the number of events. */
  int sleep(long deadline) throws ErrnoException {
    int events = deadline == AWAKE ? driver.poll(Driver.NOW) : sleepUnlessBusy(deadline);
    if (nudged) {
      nudged = false; // before our caller looks at what the waking thread has changed
    }
    return events;
  }

  private int sleepUnlessBusy(long deadline) throws ErrnoException {
    if (busyPollNanos > 0) {
      int events = busyPoll(deadline);
      if (events != 0) {
        return Math.max(0, events);
      }
    }
    metrics.asleep(true);
    until = deadline;
    try {
      // From here on producers wake us; whatever came before is visible as posted work.
      return driver.poll(work.hasPosted() || nudged ? Driver.NOW : deadline);
    } finally {
      until = AWAKE;
      metrics.asleep(false);
    }
  }

  /** Polls for a while; the number of events, 0 to sleep, -1 for other work or the deadline. */
  private int busyPoll(long deadline) throws ErrnoException {
    long end = System.nanoTime() + busyPollNanos;
    while (true) {
      int events = driver.poll(Driver.NOW);
      if (events > 0 || work.hasPosted() || nudged) {
        return events > 0 ? events : -1;
      }
      long now = System.nanoTime();
      if (deadline != FOREVER && deadline - now <= 0) {
        return -1;
      }
      if (now - end >= 0) {
        return 0;
      }
      metrics.polledInVain(); // only here, so that it costs nothing while events keep coming
      Thread.onSpinWait();
    }
  }

  /** Makes the loop look around, now or at its next wait; any thread. */
  // r[impl loop.wake.eventfd]
  void wake() {
    nudged = true;
    wakeFor(AWAKE);
  }

  /** Wakes the loop if it would sleep beyond the deadline; whether it had to. Any thread. */
  // r[impl loop.timer.rearm-wake] r[impl loop.timer.no-wake-later]
  boolean wakeFor(long deadline) {
    long sleepsUntil = until;
    if (sleepsUntil == AWAKE
        || (deadline != AWAKE && sleepsUntil != FOREVER && deadline - sleepsUntil >= 0)) {
      return false;
    }
    wakers.incrementAndGet();
    try {
      if ((long) UNTIL.getAndSet(this, AWAKE) == AWAKE) {
        return false; // another thread does it
      }
      metrics.wakeUpSent();
      long result = driver.wake();
      if (result < 0 && result != -EAGAIN) {
        until = FOREVER; // so that the next producer tries again
        LOG.log(
            ERROR,
            "the loop cannot be woken",
            new ErrnoException("write", (int) -result, driver.backend().label()));
      }
      return true;
    } finally {
      wakers.decrementAndGet();
    }
  }

  /** Waits until no thread is between the decision to wake the loop and the system call. */
  void awaitWakers() {
    do {
      until = AWAKE;
      while (wakers.get() > 0) {
        Thread.onSpinWait();
      }
    } while (until != AWAKE); // a wake-up has failed meanwhile
  }
}
