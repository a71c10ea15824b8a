package dev.belfry.signals;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that run handlers and cleanups, so that the receiving thread is always free for the
 * next signal. Platform threads, because signals must work even when every carrier thread is stuck.
 */
final class SignalThreads implements AutoCloseable {
  /**
   * Enough for a graceful shutdown; started ahead, because later there may be no memory for them.
   */
  private static final int READY = 2;

  private static final long IDLE_SECONDS = 10;

  /** How long an exit waits for its last records, in case standard error is blocked. */
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
   * Runs work on one of the threads; drops it once closed.
   *
   * @throws OutOfMemoryError if no thread can be started for it
   */
  void run(Runnable work) {
    threads.execute(work);
  }

  /** Runs work and waits for it, but only briefly. */
  void briefly(Runnable work) {
    var done = new CountDownLatch(1);
    try {
      run(
          () -> {
            work.run();
            done.countDown();
          });
      // If the work blocks, the caller has more important things to do.
      boolean _ = done.await(BRIEFLY_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (OutOfMemoryError e) {
      // Exit without the last records.
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
