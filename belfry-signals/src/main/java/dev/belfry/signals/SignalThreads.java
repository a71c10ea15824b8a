package dev.belfry.signals;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads on which handlers and cleanups run, so that the one that receives signals is always
 * free for the next. Platform threads: signals must work when every carrier of virtual threads is
 * stuck.
 */
final class SignalThreads implements AutoCloseable {
  /** Enough for an orderly end; started ahead, because later there may be no memory for them. */
  private static final int READY = 2;

  private static final long IDLE_SECONDS = 10;

  /** How long an exit waits for its last words, should standard error be stuck. */
  private static final long BRIEFLY_MILLIS = 250;

  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          READY,
          Integer.MAX_VALUE,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          Thread.ofPlatform().daemon().name("belfry-signals-", 1).factory(),
          new ThreadPoolExecutor.DiscardPolicy());

  SignalThreads() {
    threads.prestartAllCoreThreads();
  }

  /**
   * Runs something soon.
   *
   * @throws OutOfMemoryError if there is no thread for it
   */
  void run(Runnable work) {
    threads.execute(work);
  }

  /** Runs something and waits for it, but not long. */
  void briefly(Runnable work) {
    var done = new CountDownLatch(1);
    try {
      run(
          () -> {
            work.run();
            done.countDown();
          });
      // If it is stuck, whoever called has more important things to do.
      boolean _ = done.await(BRIEFLY_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (OutOfMemoryError e) {
      // Then without last words.
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
