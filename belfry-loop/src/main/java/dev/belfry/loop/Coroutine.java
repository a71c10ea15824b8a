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
 * locks against other coroutines of the loop. While it computes, or blocks in anything but an
 * operation of the loop or {@code java.util.concurrent}, the loop stands still.
 *
 * <p>That holds where the loop can carry virtual threads ({@link LoopCarrier#unavailabilityCause}).
 * Elsewhere coroutines run on the JDK's scheduler: in parallel, so they need locks, and without
 * holding up the loop.
 *
 * @param <T> the type of its result
 */
public final class Coroutine<T> extends Task implements Executor {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  private final EventLoop loop;
  private final Thread thread;
  private final CompletableFuture<T> result = new CompletableFuture<>();

  /** Whether the result was asked for, so that a failure will be seen. */
  private volatile boolean asked;

  /** Continues the virtual thread; the JDK always submits the same object. */
  private @Nullable Runnable continuation;

  /** The body of a coroutine without a result. It may throw, because most bodies do I/O. */
  public interface Body {
    /** Runs the body; an exception ends the coroutine. */
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
      case StoppedException _, InterruptedException _ -> {} // stopped on purpose
      case RuntimeException _, Error _ -> LOG.log(ERROR, this + " has failed", failure);
      default -> LOG.log(WARNING, "{0} has ended: {1}", this, failure); // such as a lost peer
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
   * The result, or the exception that ended the coroutine. It completes as the coroutine's last
   * act. An exception that ends the coroutine before the result was asked for is logged. A {@link
   * StoppedException} counts as cancellation: the future then throws a {@link
   * java.util.concurrent.CancellationException}.
   */
  public CompletableFuture<T> result() {
    asked = true;
    return result;
  }

  /** Interrupts the coroutine: the operation it awaits is stopped. Any thread may call this. */
  public void cancel() {
    thread.interrupt();
  }

  /**
   * Called by the JDK when the virtual thread can continue, or one that it started and that
   * inherited this scheduler. The loop does not wait for inherited threads when it ends; they
   * continue on the common pool. Among them are the pollers with which the JDK waits for the
   * sockets of the whole process.
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
