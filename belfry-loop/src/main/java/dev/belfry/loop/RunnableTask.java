package dev.belfry.loop;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** A plain action for the loop. */
final class RunnableTask extends Task {
  private final Runnable action;

  /** Runs the action if the loop has ended; null to reject it. */
  private final @Nullable Executor heir;

  RunnableTask(Runnable action) {
    this(action, null);
  }

  RunnableTask(Runnable action, @Nullable Executor heir) {
    this.action = action;
    this.heir = heir;
  }

  @Override
  public void run() {
    action.run();
  }

  @Override
  void abandoned() {
    if (heir == null) {
      throw new RejectedExecutionException("the loop was stopped");
    }
    heir.execute(action);
  }
}
