package dev.belfry.shm;

import dev.belfry.loop.EventLoop;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Runs an action on a loop's thread and waits for it; may be called on that thread itself. */
final class LoopCall {
  private LoopCall() {}

  /**
   * Runs an action.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the loop was stopped
   */
  static <T> T on(EventLoop loop, Callable<T> action) throws IOException {
    var result = new CompletableFuture<T>();
    Runnable task =
        () -> {
          try {
            result.complete(action.call());
          } catch (Throwable e) {
            result.completeExceptionally(e);
          }
        };
    if (loop.inLoop()) {
      task.run();
    } else {
      loop.scheduler().execute(task);
    }
    try {
      return result.join();
    } catch (CompletionException e) {
      switch (e.getCause()) {
        case IOException io -> throw io;
        case RuntimeException unchecked -> throw unchecked;
        case null, default -> throw e;
      }
    }
  }
}
