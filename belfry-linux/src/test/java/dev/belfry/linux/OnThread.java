package dev.belfry.linux;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Something that a test runs on a thread of its own, with a time limit for waiting for it. */
final class OnThread<T> {
  static final long PATIENCE_SECONDS = 60;

  private final FutureTask<T> task;

  private OnThread(FutureTask<T> task) {
    this.task = task;
    Thread.ofPlatform().daemon().start(task);
  }

  static <T> OnThread<T> call(Callable<T> work) {
    return new OnThread<>(new FutureTask<>(work));
  }

  T result() throws Exception {
    return task.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }
}
