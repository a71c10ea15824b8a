package dev.belfry.loop;

import java.time.Duration;

/**
 * Completes at a given time, never earlier. Created by {@link Scheduler#at} and {@link
 * Scheduler#after}. It may be started again, for the same time or another.
 */
public final class TimerOperation extends Operation<Void> {
  static final long NOT_PENDING = 0;

  /** Longer than anyone waits, and short enough that differences do not overflow. */
  private static final long LONGEST_NANOS = Long.MAX_VALUE / 4;

  /** The number of this timer's entry in the heap; changed by the heap alone. */
  long number = NOT_PENDING;

  /** Where the heap put that entry, which may have moved since; changed by the heap alone. */
  int index;

  private final boolean internal;
  private boolean relative;
  private long nanos;

  /** Whether the deadline is still a delay, counted from when the loop next reads the clock. */
  private boolean unsettled;

  private long deadline;

  TimerOperation(EventLoop loop) {
    this(loop, false);
  }

  private TimerOperation(EventLoop loop, boolean internal) {
    super(loop);
    this.internal = internal;
  }

  /** A timer that even a stopped loop accepts. */
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
   * Sets a delay for the next start. It counts from the start or, if started on the loop thread,
   * from when the loop next reads the clock, in the same turn.
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

  /** When it fires; known at the start on another thread, which may have to wake the loop. */
  long deadline() {
    return deadline;
  }

  /** Counts the delay from the given time; returns the deadline. */
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
