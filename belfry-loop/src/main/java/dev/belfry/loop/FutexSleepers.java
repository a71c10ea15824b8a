package dev.belfry.loop;

import dev.belfry.linux.Futex;
import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Waits for words of memory where the kernel cannot wait for several at once (before Linux 5.16, or
 * behind a seccomp filter): one thread per word.
 */
final class FutexSleepers implements AutoCloseable {
  /** How long to sleep between checks whether the wait was cancelled: the wake-up can be missed. */
  private static final long SLICE_NANOS = 50_000_000;

  private final Sys sys;
  private final Map<FutexOperation, Sleeper> waiting = new ConcurrentHashMap<>();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name(FutexThread.THREAD_NAME).factory());

  FutexSleepers(Sys sys) {
    this.sys = sys;
  }

  void add(FutexOperation operation) {
    var sleeper = new Sleeper(operation);
    waiting.put(operation, sleeper);
    try {
      threads.execute(sleeper);
    } catch (RuntimeException | Error noThread) {
      waiting.remove(operation);
      throw noThread;
    }
  }

  /** Ends the wait of an operation; false if it is over already and the loop will be told. */
  boolean remove(FutexOperation operation) {
    Sleeper removed = waiting.remove(operation);
    if (removed != null) {
      Futex.wake(sys, removed.word, Integer.MAX_VALUE); // all, to be sure to reach this sleeper
    }
    return removed != null;
  }

  List<FutexOperation> waiting() {
    return List.copyOf(waiting.keySet());
  }

  @Override
  public void close() {
    threads.close();
  }

  private final class Sleeper implements Runnable {
    private final FutexOperation operation;
    private final MemorySegment word;
    private final int expected;

    Sleeper(FutexOperation operation) {
      this.operation = operation;
      this.word = operation.address();
      this.expected = operation.expected();
    }

    @Override
    public void run() {
      var futex = new Futex(sys);
      while (waiting.get(operation) == this) {
        int answer = futex.await(word, expected, System.nanoTime() + SLICE_NANOS);
        if (FutexOperation.isOver(answer) && waiting.remove(operation, this)) {
          operation.wokenElsewhere(answer);
        }
      }
    }
  }
}
