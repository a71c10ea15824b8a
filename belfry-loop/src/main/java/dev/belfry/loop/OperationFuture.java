package dev.belfry.loop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * The result of an operation as a future. Ending the future in another way, by cancelling it or by
 * a timeout for example, cancels the operation, because its result would have no taker.
 */
final class OperationFuture<T> extends CompletableFuture<T> implements Completion<T> {
  private final Operation<T> operation;

  /** The start that this future stands for; set before the loop sees it. */
  long start;

  /** Whether the future is being ended, by the operation or otherwise; the first one wins. */
  private final AtomicBoolean claimed = new AtomicBoolean();

  OperationFuture(Operation<T> operation) {
    this.operation = operation;
  }

  @Override
  public void completed(Operation<? extends T> completed) {
    if (claimed.getAndSet(true)) {
      if (completed.hasValue()) {
        completed.discardValue(); // cancelled too late
      }
      return;
    }
    switch (completed.outcome()) {
      case VALUE -> {
        if (!super.complete(completed.value())) {
          completed.discardValue(); // it was obtruded just now
        }
      }
      case STOPPED -> super.cancel(false);
      case ERROR -> {
        Throwable error = completed.error();
        super.completeExceptionally(error != null ? error : new IllegalStateException("no error"));
      }
    }
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    return withdraw() ? super.cancel(mayInterruptIfRunning) : isCancelled();
  }

  @Override
  public boolean complete(T value) {
    return withdraw() && super.complete(value);
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    return withdraw() && super.completeExceptionally(failure);
  }

  /** Comes to {@link #complete}, which the inherited method does not. */
  @Override
  public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
    var _ =
        CompletableFuture.supplyAsync(supplier, executor)
            .whenComplete(
                (value, failure) -> {
                  if (failure == null) {
                    complete(value);
                  } else {
                    completeExceptionally(failure);
                  }
                });
    return this;
  }

  @Override
  public void obtrudeValue(T value) {
    withdraw();
    super.obtrudeValue(value);
  }

  @Override
  public void obtrudeException(Throwable failure) {
    withdraw();
    super.obtrudeException(failure);
  }

  /**
   * Cancels the operation, unless the future is ended already. This comes before the future
   * completes, because a dependent action may start the same wait again, and this operation must
   * not take its result.
   */
  private boolean withdraw() {
    if (claimed.getAndSet(true)) {
      return false;
    }
    operation.cancel(start);
    return true;
  }
}
