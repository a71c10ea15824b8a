package dev.belfry.loop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The result of an operation as a future. Whoever ends it before, by cancelling it or by a time-out
 * for example, cancels the operation: nobody would take what it still brings.
 */
final class OperationFuture<T> extends CompletableFuture<T> implements Completion<T> {
  private final Operation<T> operation;

  /** The start that this is the result of; set before the loop sees it. */
  long start;

  /** Whether somebody ends it, the operation or another; only the first does. */
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
          completed.discardValue(); // completed asynchronously, past us
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

  /**
   * Cancels the operation, unless another has ended this. Before anybody is told of the end: they
   * may wait for the same again, and the operation is not to take it from them.
   */
  private boolean withdraw() {
    if (claimed.getAndSet(true)) {
      return false;
    }
    operation.cancel(start);
    return true;
  }
}
