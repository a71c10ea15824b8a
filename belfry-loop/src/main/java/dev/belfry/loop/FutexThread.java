package dev.belfry.loop;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Futex;
import dev.belfry.linux.FutexSet;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for words of memory where io_uring cannot: one thread sleeps on all of them at once, and on
 * a word of its own that tells it when the set changes.
 */
final class FutexThread implements AutoCloseable {
  static final String THREAD_NAME = "belfry-futex";

  private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();
  private static final int MAX = FutexSet.MAX_WORDS - 1;
  private static final long PAUSE_NANOS = 1_000_000;
  private static final long NOW = 0;

  private final Sys sys;
  private final Futex word;
  private final FutexSet words;
  private final MemorySegment changes = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);
  private final Thread thread;

  /** The waiting operations; guarded by this. */
  private final List<FutexOperation> waiting = new ArrayList<>();

  private volatile boolean closed;

  FutexThread(Sys sys) {
    this.sys = sys;
    this.word = new Futex(sys);
    this.words = new FutexSet(sys, FutexSet.MAX_WORDS);
    thread = Thread.ofPlatform().daemon().name(THREAD_NAME).start(this::run);
  }

  /** Begins to wait for an operation; false if there is no room for another word. */
  synchronized boolean add(FutexOperation operation) {
    if (waiting.size() == MAX) {
      return false;
    }
    waiting.add(operation);
    changed();
    return true;
  }

  /** Ends the wait of an operation; false if it is over already and the loop will be told. */
  synchronized boolean remove(FutexOperation operation) {
    boolean waited = waiting.remove(operation);
    if (waited) {
      changed();
    }
    return waited;
  }

  synchronized List<FutexOperation> waiting() {
    return List.copyOf(waiting);
  }

  private void changed() {
    WORD.getAndAdd(changes, 0L, 1);
    Futex.wake(sys, changes, 1);
  }

  private void run() {
    while (true) {
      List<FutexOperation> current;
      synchronized (this) {
        words.set(0, changes, (int) WORD.getVolatile(changes, 0L));
        current = List.copyOf(waiting);
      }
      if (closed) { // checked after the word was read: a later change ends the wait
        return;
      }
      for (int i = 0; i < current.size(); i++) {
        words.set(i + 1, current.get(i).address(), current.get(i).expected());
      }
      int woken = words.await(current.size() + 1, Futex.FOREVER);
      if (woken < 0) { // a word has another value, or its memory is gone
        if (woken != -Errno.EAGAIN) {
          LockSupport.parkNanos(PAUSE_NANOS); // so that a persistent error does not spin
        }
        current.forEach(this::look);
      } else if (woken > 0) {
        end(current.get(woken - 1), 0);
      }
    }
  }

  private void look(FutexOperation operation) {
    int answer = word.await(operation.address(), operation.expected(), NOW);
    if (FutexOperation.isOver(answer)) {
      end(operation, answer);
    }
  }

  private void end(FutexOperation operation, int answer) {
    if (takeOut(operation)) {
      operation.wokenElsewhere(answer);
    }
  }

  private synchronized boolean takeOut(FutexOperation operation) {
    return waiting.remove(operation);
  }

  @Override
  public void close() {
    closed = true;
    changed();
    Joining.awaitEnd(thread);
  }
}
