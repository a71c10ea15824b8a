package dev.belfry.loop;

import static dev.belfry.loop.Outcome.VALUE;

import dev.belfry.linux.ErrnoException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Something a loop does that may take time. It does nothing until it is started; then it completes
 * exactly once, on the loop thread, with a value, an error or as stopped. Afterwards it may be
 * started again, which allocates nothing.
 *
 * <p>There are three ways to use it: {@link #start} with a callback, {@link #await} in a coroutine
 * (or on any thread but the loop's own), and {@link #toFuture}. Each may be called from any thread,
 * by one thread at a time.
 *
 * @param <T> the type of its value
 */
public abstract non-sealed class Operation<T> extends OperationCore<T> {
  /** Stands for any thread but the owner of some arena. */
  static final Thread STRANGER = Thread.ofPlatform().unstarted(() -> {});

  Operation(EventLoop loop) {
    super(loop);
  }

  /**
   * Starts; the completion is told how it ended. That is never before this returns, except on a
   * loop that has ended, which has no thread any more.
   */
  public final void start(Completion<? super T> completion) {
    start(completion, StopToken.NEVER);
  }

  /**
   * Starts; the completion is told how it ended, as stopped if the token fires first.
   *
   * @throws IllegalStateException if it was started and has not completed yet
   */
  public final void start(Completion<? super T> completion, StopToken token) {
    start(completion, null, token);
  }

  /**
   * Starts and waits. In a coroutine of the loop nothing blocks; on another thread that thread
   * does.
   *
   * @throws IOException if it failed: {@link ErrnoException} with the errno of the system call
   * @throws StoppedException if it was stopped, also by interrupting this thread; if that was
   *     interrupted before, nothing is attempted
   * @throws IllegalStateException on the loop's own thread outside a coroutine
   */
  public final T await() throws IOException {
    return await(StopToken.NEVER);
  }

  /** Starts and waits, as {@link #await()} does, but only until the token fires. */
  public final T await(StopToken token) throws IOException {
    if (!Thread.currentThread().isVirtual() && loop.inLoop()) {
      throw new IllegalStateException(
          "waiting on the loop's own thread would stop the loop: use start or a coroutine");
    }
    startAndWait(token);
    return result();
  }

  /**
   * Starts and waits, as {@link #await()} does, but at most for a time.
   *
   * @throws TimedOutException if the time was up first; it was then withdrawn
   */
  public final T await(Duration atMost) throws IOException {
    var late = new StopSource();
    TimerOperation timer = loop.scheduler().after(atMost);
    timer.start(
        fired -> {
          if (fired.hasValue()) {
            late.requestStop();
          }
        });
    try {
      return await(late.token());
    } catch (StoppedException e) {
      if (late.isStopRequested()) {
        throw new TimedOutException(this + " took longer than " + atMost);
      }
      throw e;
    } finally {
      timer.cancel();
    }
  }

  /**
   * Starts; the future completes on the loop thread with the value, exceptionally with the error,
   * or is cancelled. Cancelling the future cancels the operation, and so does whoever else ends it
   * before, such as {@link CompletableFuture#orTimeout}.
   */
  public final CompletableFuture<T> toFuture() {
    return toFuture(StopToken.NEVER);
  }

  /** Starts, as {@link #toFuture()} does, with a token. */
  public final CompletableFuture<T> toFuture(StopToken token) {
    var future = new OperationFuture<T>(this);
    start(future, token);
    return future;
  }

  /**
   * Withdraws what was started: it completes as stopped unless it completes in another way first.
   * Only then, which is not before this returns, may it be started again. Does nothing if it is not
   * in flight. Any thread.
   */
  public final void cancel() {
    cancelLatest();
  }

  /** How it ended; meaningful after completion and until it is started again. */
  public final Outcome outcome() {
    Outcome known = outcome;
    if (known == null) {
      throw new IllegalStateException(this + " has not completed");
    }
    return known;
  }

  /** Whether it completed with a value. */
  public final boolean hasValue() {
    return outcome == VALUE;
  }

  /** The error it completed with, or null. */
  public final @Nullable Throwable error() {
    return error;
  }

  /**
   * The value, or what came instead.
   *
   * @throws IOException if it failed
   * @throws StoppedException if it was stopped
   */
  public final T result() throws IOException {
    return switch (outcome()) {
      case VALUE -> value();
      case STOPPED -> throw new StoppedException(this + " was stopped");
      case ERROR -> throw rethrowable();
    };
  }

  private IOException rethrowable() {
    return switch (error) {
      case IOException e -> e;
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case null, default -> new IOException(this + " failed", error);
    };
  }

  /** The value after success. */
  abstract T value();

  /** The value of an operation that has none. */
  @SuppressWarnings("NullAway") // Void has no other value
  static Void nothing() {
    return null;
  }

  /** Releases a value that nobody takes, if it is something that has to be released. */
  void discardValue() {}

  @Override
  final void tell(Completion<? super T> callback) {
    callback.completed(this);
  }
}
