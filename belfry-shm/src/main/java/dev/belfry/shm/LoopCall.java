package dev.belfry.shm;

import dev.belfry.loop.EventLoop;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs an action on a loop's thread and waits for it; may be called on that thread itself. */
final class LoopCall {
  private static final System.Logger LOG = System.getLogger(LoopCall.class.getName());

  /** Longer than a thread takes from its start to the first turn of its loop. */
  private static final long START_MILLIS = 2_000;

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
      warnIfIdle(result, loop);
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

  /** Without a word, a program that has forgotten to start its loop would just hang. */
  private static void warnIfIdle(CompletableFuture<?> result, EventLoop loop) {
    try {
      var _ = result.handle((_, _) -> true).get(START_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      if (loop.metrics().turns() == 0) {
        LOG.log(
            Level.WARNING,
            "waiting for the {0}, which no thread has run yet: start its group, or call run",
            loop);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // no reason to stop waiting
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
