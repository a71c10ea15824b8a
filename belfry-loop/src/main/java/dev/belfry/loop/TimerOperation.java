package dev.belfry.loop;

import java.time.Duration;

/**
 * Completes at a time, never earlier. Made by {@link Scheduler#at} and {@link Scheduler#after}; the
 * same object may be started again, for the same time or another.
 */
public final class TimerOperation extends Operation<Void> {
  static final long NOT_PENDING = 0;

  /** Far enough for anyone, and near enough for differences not to overflow. */
  private static final long LONGEST_NANOS = Long.MAX_VALUE / 4;

  /** Which entry of the heap is this timer's; changed by the heap alone. */
  long number = NOT_PENDING;

  /** Where the heap has put that entry; it may have been moved since. Also the heap's alone. */
  int index;

  private final boolean internal;
  private boolean relative;
  private long nanos;

  /** Whether the deadline is still a delay, which the loop has yet to count from some time. */
  private boolean unsettled;

  private long deadline;

  TimerOperation(EventLoop loop) {
    this(loop, false);
  }

  private TimerOperation(EventLoop loop, boolean internal) {
    super(loop);
    this.internal = internal;
  }

  /** A timer that a stopped loop takes too. */
  static TimerOperation internal(EventLoop loop) {
    return new TimerOperation(loop, true);
  }

  @Override
  boolean isInternal() {
    return internal;
  }

  /**
   * Sets a time for the next start.
   *
   * @param deadlineNanos on the clock of {@link System#nanoTime}
   */
  public TimerOperation at(long deadlineNanos) {
    relative = false;
    nanos = Math.clamp(deadlineNanos, -LONGEST_NANOS, LONGEST_NANOS);
    return this;
  }

  /**
   * Sets a delay for the next start, counted from the start; if that is on the loop thread, from
   * when the loop next looks at the clock, which it does in the same turn.
   */
  public TimerOperation after(Duration delay) {
    return afterNanos(Scheduler.nanosOf(delay));
  }

  /** Sets a delay for the next start, in nanoseconds. */
  public TimerOperation afterNanos(long delayNanos) {
    relative = true;
    nanos = Math.clamp(delayNanos, 0, LONGEST_NANOS);
    return this;
  }

  /** When it fires. Known from the start if another thread starts it, which may have to wake us. */
  long deadline() {
    return deadline;
  }

  /** Makes the delay count from a time; returns when that makes it fire. */
  long settle(long now) {
    deadline += now;
    return deadline;
  }

  @Override
  void prepare(boolean inLoop) {
    unsettled = relative && inLoop;
    deadline = relative && !inLoop ? System.nanoTime() + nanos : nanos;
  }

  @Override
  Void value() {
    return nothing();
  }

  @Override
  void launch() {
    if (unsettled) {
      loop.timers.addNewcomer(this);
    } else {
      loop.timers.add(this, deadline);
    }
  }

  @Override
  void withdraw() {
    loop.timers.cancel(this);
    completeStopped();
  }

  @Override
  public String toString() {
    return "timer";
  }
}
