package dev.belfry.shm;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A thread of this process that runs an action in which it goes to sleep on a shared futex.
 *
 * @param <T> the result of the action
 */
final class Sleeper<T> {
  /** A slice so long that a thread that is not woken does not wake up. */
  static final long NEVER_NANOS = 3_600_000_000_000L;

  private final CompletableFuture<Integer> id = new CompletableFuture<>();
  private final CompletableFuture<T> result = new CompletableFuture<>();

  private Sleeper() {}

  /** Starts the thread; returns when it sleeps. */
  static <T> Sleeper<T> start(Callable<T> action) throws Exception {
    var sleeper = new Sleeper<T>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                sleeper.id.complete(Sys.forAnyThread().gettid());
                sleeper.result.complete(action.call());
              } catch (Throwable e) {
                sleeper.result.completeExceptionally(e);
              }
            });
    sleeper.awaitSleep();
    return sleeper;
  }

  /**
   * Waits until the thread is seen in its system call. It may not be queued yet; changing its word
   * before that keeps it from sleeping.
   */
  void awaitSleep() throws Exception {
    int thread = id.get(TestProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
    while (!SleepingThreads.sleeps(ProcessHandle.current().pid(), thread)) {
      if (result.isDone() || System.nanoTime() - deadline > 0) {
        throw new AssertionError("it does not sleep; what came of it: " + result);
      }
      Thread.onSpinWait();
    }
  }

  boolean isDone() {
    return result.isDone();
  }

  /** The result of the action. */
  T get() throws InterruptedException, ExecutionException, TimeoutException {
    return result.get(2 * TestProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }
}
