package dev.belfry.loop;

import java.util.concurrent.RejectedExecutionException;

/** A plain action for the loop. */
final class RunnableTask extends Task {
  private final Runnable action;

  RunnableTask(Runnable action) {
    this.action = action;
  }

  @Override
  public void run() {
    action.run();
  }

  @Override
  void abandoned() {
    throw new RejectedExecutionException("the loop was stopped");
  }
}
