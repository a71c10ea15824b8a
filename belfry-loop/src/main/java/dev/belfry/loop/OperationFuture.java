package dev.belfry.loop;

import java.util.concurrent.CompletableFuture;

/**
 * The result of an operation as a future. Whoever ends it before, by cancelling it or by a time-out
 * for example, cancels the operation: nobody would take what it still brings.
 */
final class OperationFuture<T> extends CompletableFuture<T> implements Completion<T> {
  private final Operation<T> operation;

  /** The start that this is the result of; set before the loop sees it. */
  long start;

  OperationFuture(Operation<T> operation) {
    this.operation = operation;
  }

  @Override
  public void completed(Operation<? extends T> completed) {
    switch (completed.outcome()) {
      case VALUE -> {
        if (!super.complete(completed.value())) {
          completed.discardValue(); // cancelled too late
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
    return withdrawIf(super.cancel(mayInterruptIfRunning));
  }

  @Override
  public boolean complete(T value) {
    return withdrawIf(super.complete(value));
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    return withdrawIf(super.completeExceptionally(failure));
  }

  private boolean withdrawIf(boolean ended) {
    if (ended) {
      operation.cancel(start);
    }
    return ended;
  }
}
