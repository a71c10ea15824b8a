package dev.belfry.loop;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * Puts work on a loop, from any thread. Two schedulers are equal if they belong to the same loop.
 *
 * @param loop the loop
 */
// r[impl loop.sched.token]
public record Scheduler(EventLoop loop) implements Executor {

  /** The loop's time, which is {@link System#nanoTime}. */
  public long now() {
    return System.nanoTime();
  }

  /**
   * Completes on the loop thread. Operations started by one thread complete in that order. On the
   * loop thread itself, those started by completions run in the same turn, those started by tasks
   * in the next.
   */
  public ScheduleOperation schedule() {
    return new ScheduleOperation(loop);
  }

  /** Completes on the loop thread at a time of {@link #now}, never before it. */
  public TimerOperation at(long deadlineNanos) {
    return new TimerOperation(loop).at(deadlineNanos);
  }

  /** Completes on the loop thread after a delay; see {@link TimerOperation#after}. */
  // r[impl loop.timer.api]
  public TimerOperation after(Duration delay) {
    return new TimerOperation(loop).after(delay);
  }

  /**
   * Runs an action on the loop thread.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the loop was stopped
   */
  @Override
  public void execute(Runnable action) {
    loop.execute(action);
  }

  /** Returns a duration in nanoseconds, saturating. */
  static long nanosOf(Duration duration) {
    try {
      return duration.toNanos();
    } catch (ArithmeticException tooLong) {
      return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
  }
}
