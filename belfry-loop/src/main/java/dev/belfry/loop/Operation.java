package dev.belfry.loop;

import static dev.belfry.loop.Outcome.VALUE;

import dev.belfry.linux.ErrnoException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Something a loop does that may take time. An operation does nothing until it is started. It then
 * completes exactly once, on the loop thread, with a value, with an error, or as stopped. After
 * that it may be started again, which allocates nothing.
 *
 * <p>There are three ways to use an operation: {@link #start} with a callback, {@link #await} in a
 * coroutine (or on any thread except the loop's), and {@link #toFuture}. Each may be called from
 * any thread, but only by one thread at a time.
 *
 * @param <T> the type of its value
 */
public abstract non-sealed class Operation<T> extends OperationCore<T> {
  /** Stands for any thread other than the owner of a confined arena. */
  static final Thread STRANGER = Thread.ofPlatform().unstarted(() -> {});

  Operation(EventLoop loop) {
    super(loop);
  }

  /**
   * Starts the operation and passes it to the callback once it has completed. The callback never
   * runs before this method returns, except on a loop that has ended and so has no thread left.
   */
  public final void start(Completion<? super T> completion) {
    start(completion, StopToken.NEVER);
  }

  /**
   * Starts the operation and passes it to the callback once it has completed. It completes as
   * stopped if the token fires first.
   *
   * @throws IllegalStateException if it was started and has not completed yet
   */
  public final void start(Completion<? super T> completion, StopToken token) {
    start(completion, null, token);
  }

  /**
   * Starts the operation and waits for its value. A coroutine of the loop is suspended without
   * blocking its carrier; any other thread blocks.
   *
   * @throws IOException if it failed: {@link ErrnoException} with the errno of the system call
   * @throws StoppedException if it was stopped, or this thread was interrupted; if the thread was
   *     interrupted before the call, nothing is attempted
   * @throws IllegalStateException on the loop's own thread outside a coroutine
   */
  public final T await() throws IOException {
    return await(StopToken.NEVER);
  }

  /** Starts the operation and waits, as {@link #await()} does, until the token fires. */
  public final T await(StopToken token) throws IOException {
    if (!Thread.currentThread().isVirtual() && loop.inLoop()) {
      throw new IllegalStateException(
          "waiting on the loop's own thread would stop the loop: use start or a coroutine");
    }
    startAndWait(token);
    return result();
  }

  /**
   * Starts the operation and waits, as {@link #await()} does, but cancels it after this long.
   *
   * @throws OperationTimeoutException if the time ran out first
   */
  public final T await(Duration limit) throws IOException {
    return await(limit, StopToken.NEVER);
  }

  /**
   * Starts the operation and waits, as {@link #await()} does, until the token fires, but cancels it
   * after this long.
   *
   * @throws OperationTimeoutException if the time ran out and the token has not fired
   */
  // r[impl loop.op.limit]
  public final T await(Duration limit, StopToken token) throws IOException {
    var end = new StopSource(); // fires with the token, or when the time is up
    TimerOperation timer = loop.scheduler().after(limit);
    timer.start(
        fired -> {
          if (fired.hasValue()) {
            end.requestStop();
          }
        });
    try (StopToken.Registration _ = token.onStop(end::requestStop)) {
      return await(end.token());
    } catch (StoppedException e) {
      if (end.isStopRequested() && !token.isStopRequested()) {
        throw new OperationTimeoutException(this + " took longer than " + limit);
      }
      throw e;
    } finally {
      timer.cancel();
    }
  }

  /**
   * Starts the operation. The future completes on the loop thread: with the value, exceptionally
   * with the error, or as cancelled. Ending the future in any other way, by {@link
   * CompletableFuture#cancel} or {@link CompletableFuture#orTimeout} for example, cancels the
   * operation.
   */
  public final CompletableFuture<T> toFuture() {
    return toFuture(StopToken.NEVER);
  }

  /** Starts the operation with a token, as {@link #toFuture()} does. */
  public final CompletableFuture<T> toFuture(StopToken token) {
    var future = new OperationFuture<T>(this);
    start(future, token);
    return future;
  }

  /**
   * Cancels the operation: it completes as stopped, unless it completes otherwise first. Completion
   * comes later, not within this call, and only then may it be started again. Does nothing if the
   * operation is not in flight. Any thread may call this.
   */
  public final void cancel() {
    cancelLatest();
  }

  /** How it ended; valid from its completion until it is started again. */
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
   * The value, or the exception that took its place.
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

  /** The value after a success. */
  abstract T value();

  /** The value of an operation that has none. */
  @SuppressWarnings("NullAway") // Void has no other value
  static Void nothing() {
    return null;
  }

  /** Releases a value that has no taker, if values of this kind have to be released. */
  void discardValue() {}

  @Override
  final void tell(Completion<? super T> callback) {
    callback.completed(this);
  }
}
