package dev.belfry.loop;

import static java.util.Objects.requireNonNull;

import dev.belfry.linux.FutexSet;
import dev.belfry.linux.Sys;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The waits of a loop for words of memory: requests to an io_uring or, where the kernel does not
 * support them, on as many threads as needed. Loop thread only.
 */
final class FutexWaits implements AutoCloseable {
  private final Sys sharedSys;

  /** The ring for the requests; null if there is none. */
  private final @Nullable Uring uring;

  /** Whether the kernel supports the requests; true until the contrary is known. */
  private boolean taken = true;

  private final Set<UringFutex> requests = new HashSet<>();
  private final List<FutexThread> threads = new ArrayList<>();

  /** Used instead of threads where the kernel waits for one word at a time; created when needed. */
  private @Nullable FutexSleepers sleepers;

  FutexWaits(@Nullable Uring uring, Sys sharedSys) {
    this.uring = uring;
    this.sharedSys = sharedSys;
  }

  void start(FutexOperation operation) {
    if (uring == null || !taken) {
      startOnThread(operation);
      return;
    }
    UringFutex request = operation.request;
    if (request == null) {
      request = new UringFutex(this, operation);
      operation.request = request;
    }
    requests.add(request);
    uring.want(request);
  }

  private void startOnThread(FutexOperation operation) {
    if (!operation.word().scope().isAlive()) {
      operation.failFreed();
      return;
    }
    if (sleepers == null && threads.isEmpty() && !FutexSet.isAvailable(sharedSys)) {
      sleepers = new FutexSleepers(sharedSys);
    }
    if (sleepers != null) {
      sleepers.add(operation);
      return;
    }
    for (FutexThread thread : threads) {
      if (thread.add(operation)) {
        return;
      }
    }
    var another = new FutexThread(sharedSys);
    threads.add(another);
    another.add(operation);
  }

  /** Waits again, after an interruption. */
  void again(UringFutex request) {
    requireNonNull(uring).want(request);
  }

  void ended(UringFutex request) {
    requests.remove(request);
  }

  /** The kernel does not support such requests: Linux before 6.7. */
  void refused(FutexOperation operation) {
    taken = false;
    startOnThread(operation);
  }

  /** Ends a wait as stopped, unless it is over already and the loop is about to learn of it. */
  void cancel(FutexOperation operation) {
    UringFutex request = operation.request;
    if (request == null || !requests.contains(request)) {
      cancelOnThread(operation);
    } else if (requireNonNull(uring).withdraw(request)) {
      ended(request);
      operation.completeStopped();
    }
  }

  private void cancelOnThread(FutexOperation operation) {
    if (threads.stream().anyMatch(thread -> thread.remove(operation))
        || (sleepers != null && sleepers.remove(operation))) {
      operation.completeStopped();
    }
  }

  /** Ends all waits as stopped, except those that are over already. */
  void cancelAll() {
    List.copyOf(requests).forEach(request -> cancel(request.operation()));
    threads.stream().flatMap(thread -> thread.waiting().stream()).forEach(this::cancel);
    if (sleepers != null) {
      sleepers.waiting().forEach(this::cancel);
    }
  }

  /** Ends the threads; a wait that one of them has just ended is posted when this returns. */
  @Override
  public void close() {
    threads.forEach(FutexThread::close);
    threads.clear();
    if (sleepers != null) {
      sleepers.close();
    }
  }
}
