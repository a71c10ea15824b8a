package dev.belfry.loop;

/**
 * Completes on the loop thread when its turn comes: a way to get onto that thread. Created by
 * {@link Scheduler#schedule}.
 */
public final class ScheduleOperation extends Operation<Void> {
  /** Whether it was cancelled in the queue, where it keeps its place. */
  private boolean cancelled;

  ScheduleOperation(EventLoop loop) {
    super(loop);
  }

  @Override
  Void value() {
    return nothing();
  }

  // r[impl loop.sched.schedule]
  @Override
  void launch() {
    cancelled = false;
    loop.work.addScheduled(this);
  }

  @Override
  boolean isScheduledWork() {
    return true;
  }

  @Override
  boolean isDoneByTurn() {
    return true;
  }

  @Override
  void turnCame() {
    completeInTurn(cancelled ? Outcome.STOPPED : Outcome.VALUE);
  }

  // r[impl loop.sched.cancel]
  @Override
  void withdraw() {
    cancelled = true;
  }

  @Override
  public String toString() {
    return "scheduled task";
  }
}
