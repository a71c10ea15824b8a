package dev.belfry.loop;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * Names a loop and puts work on it, from any thread. Two schedulers are equal when they name the
 * same loop.
 *
 * @param loop the loop
 */
// r[impl loop.sched.token]
public record Scheduler(EventLoop loop) implements Executor {

  /** The time of the loop's clock, that of {@link System#nanoTime}. */
  public long now() {
    return System.nanoTime();
  }

  /**
   * Completes on the loop thread. What a thread starts runs in that order; on the loop thread
   * itself, what completions start runs in this turn and what tasks start in the next.
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
   * Runs something on the loop thread.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the loop was stopped
   */
  @Override
  public void execute(Runnable action) {
    loop.execute(action);
  }

  /** A duration in nanoseconds; one too long for that becomes the longest possible. */
  static long nanosOf(Duration duration) {
    try {
      return duration.toNanos();
    } catch (ArithmeticException tooLong) {
      return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
  }
}
