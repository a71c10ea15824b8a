package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.WARNING;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;

/**
 * A virtual thread of a loop. Between two waits it has the loop thread to itself, so it needs no
 * locks against its siblings; and while it computes, or blocks in anything but a wait of the loop
 * or of {@code java.util.concurrent}, the loop stands still.
 *
 * @param <T> the type of its result
 */
public final class Coroutine<T> extends Task implements Executor {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  private final EventLoop loop;
  private final Thread thread;
  private final CompletableFuture<T> result = new CompletableFuture<>();

  /** Whether somebody has asked for the result, and so learns of a failure. */
  private volatile boolean asked;

  /** What continues the virtual thread; the JDK always submits the same one. */
  private @Nullable Runnable continuation;

  /** What a coroutine without a result does. As most of it waits, it may throw. */
  public interface Body {
    /** Does it; what it throws is the coroutine's end. */
    void run() throws Exception;
  }

  Coroutine(EventLoop loop, String name, Callable<T> body) {
    this.loop = loop;
    this.thread = LoopCarrier.builder(this).name(name).unstarted(() -> call(body));
  }

  void start() {
    if (loop.inLoop() && !loop.bearsStart()) {
      throw new IllegalStateException(
          "the loop was stopped, and coroutines are spawned on it again and again: " + this);
    }
    loop.add(this);
    thread.start();
  }

  private void call(Callable<T> body) {
    try {
      T value = body.call();
      result.complete(value);
    } catch (Throwable e) {
      boolean unknown = !asked;
      result.completeExceptionally(e);
      if (unknown) {
        log(e);
      }
    } finally {
      loop.remove(this);
    }
  }

  private void log(Throwable failure) {
    switch (failure) {
      case StoppedException _, InterruptedException _ -> {} // somebody wanted that
      case RuntimeException _, Error _ -> LOG.log(ERROR, this + " has failed", failure);
      default -> LOG.log(WARNING, "{0} has ended: {1}", this, failure); // as when a peer has gone
    }
  }

  /** Its name. */
  public String name() {
    return thread.getName();
  }

  /** Its virtual thread. */
  public Thread thread() {
    return thread;
  }

  /**
   * Its result, or the exception that ended it; completes as its last act. An exception that ends
   * it before anybody has asked for the result is logged. A {@link StoppedException} counts as
   * cancelled: whoever asks then gets a {@link java.util.concurrent.CancellationException}.
   */
  public CompletableFuture<T> result() {
    asked = true;
    return result;
  }

  /** Interrupts it: what it awaits is stopped. Any thread. */
  public void cancel() {
    thread.interrupt();
  }

  /**
   * Called by the JDK when the virtual thread, or one that it started and that inherited this
   * scheduler, can go on. The loop does not wait for the latter at its end; they go on elsewhere
   * then, among them those with which the JDK waits for sockets for everybody.
   */
  @Override
  public void execute(Runnable runnable) {
    if (continuation == null) {
      continuation = runnable; // the first is our own
    }
    loop.post(
        continuation == runnable ? this : new RunnableTask(runnable, ForkJoinPool.commonPool()));
  }

  /** Continues the virtual thread, on the loop thread. */
  @Override
  public void run() {
    Runnable next = continuation;
    if (next != null) {
      next.run();
    }
  }

  // r[impl loop.stop.coroutine]
  @Override
  void abandoned() {
    ForkJoinPool.commonPool().execute(() -> loop.runAlone(this));
  }

  @Override
  public String toString() {
    return "coroutine " + name();
  }
}
