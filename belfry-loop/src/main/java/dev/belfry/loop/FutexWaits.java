package dev.belfry.loop;

import java.util.ArrayList;
import java.util.List;

/**
 * The waits of a loop for words of memory, on as many threads as they need; none before the first.
 * For the loop thread.
 */
final class FutexWaits implements AutoCloseable {
  private final List<FutexThread> threads = new ArrayList<>();

  void start(FutexOperation operation) {
    for (FutexThread thread : threads) {
      if (thread.add(operation)) {
        return;
      }
    }
    var another = new FutexThread();
    threads.add(another);
    another.add(operation);
  }

  /** Ends a wait as stopped, unless the loop is about to be told that it is over. */
  void cancel(FutexOperation operation) {
    for (FutexThread thread : threads) {
      if (thread.remove(operation)) {
        operation.completeStopped();
        return;
      }
    }
  }

  /** Ends all waits as stopped, but for those that are over. */
  void cancelAll() {
    threads.stream().flatMap(thread -> thread.waiting().stream()).forEach(this::cancel);
  }

  @Override
  public void close() {
    threads.forEach(FutexThread::close);
    threads.clear();
  }
}
