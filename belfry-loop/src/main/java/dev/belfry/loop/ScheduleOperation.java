package dev.belfry.loop;

/**
 * Completes on the loop thread as soon as its turn comes: a way to get there. Made by {@link
 * Scheduler#schedule}.
 */
public final class ScheduleOperation extends Operation<Void> {
  /** Whether it was cancelled while it stood in the queue; it keeps its place there. */
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
