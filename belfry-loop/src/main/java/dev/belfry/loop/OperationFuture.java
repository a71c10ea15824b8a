package dev.belfry.loop;

import java.util.concurrent.CompletableFuture;

/** The result of an operation as a future; cancelling it cancels the operation. */
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
        if (!complete(completed.value())) {
          completed.discardValue(); // cancelled too late
        }
      }
      case STOPPED -> super.cancel(false);
      case ERROR -> {
        Throwable error = completed.error();
        completeExceptionally(error != null ? error : new IllegalStateException("no error"));
      }
    }
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean cancelled = super.cancel(mayInterruptIfRunning);
    if (cancelled) {
      operation.cancel(start);
    }
    return cancelled;
  }
}
