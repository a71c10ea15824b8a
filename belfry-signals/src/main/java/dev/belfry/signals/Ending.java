package dev.belfry.signals;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One shutdown of the process: its cause and its progress. */
final class Ending {
  private enum State {
    /** Handlers and cleanups are running. */
    WORKING,
    /** Handlers and cleanups are done; the JVM is exiting, and its shutdown hooks may hang. */
    EXITING,
    /** The exit was immediate, or a test's exit has returned. Final. */
    OVER
  }

  private final AtomicReference<State> state = new AtomicReference<>(State.WORKING);

  /** Released when the JVM need no longer be kept alive. */
  private final CountDownLatch letGo = new CountDownLatch(1);

  private final Delivery cause;
  private final int exitCode;
  private volatile SignalClock.@Nullable Timer limit;

  Ending(Delivery cause, int exitCode) {
    this.cause = cause;
    this.exitCode = exitCode;
  }

  Delivery cause() {
    return cause;
  }

  int exitCode() {
    return exitCode;
  }

  void limit(SignalClock.Timer timer) {
    limit = timer;
  }

  boolean isOver() {
    return state.get() == State.OVER;
  }

  /**
   * Moves from {@code WORKING} to {@code EXITING}; true for the one caller that may exit normally.
   */
  boolean beginExit() {
    return state.compareAndSet(State.WORKING, State.EXITING);
  }

  /**
   * Moves to {@code OVER} and cancels the time limit; true for the one caller that got there first.
   */
  boolean end() {
    SignalClock.Timer timer = limit;
    if (timer != null) {
      timer.close();
    }
    return state.getAndSet(State.OVER) != State.OVER;
  }

  /**
   * Keeps the JVM alive until {@link #letGo}. All other threads of the library are daemons, started
   * ahead while there was memory for them. Without this thread, a program whose own threads end on
   * request would exit in the middle of its cleanups, and with code 0.
   */
  // r[impl signals.exit.128n]
  void keepAlive() {
    try {
      Thread.ofPlatform().daemon(false).name("belfry-signals-end").start(this::awaitLetGo);
    } catch (OutOfMemoryError noThread) {
      // The shutdown proceeds, but cannot outlive the program's own threads.
    }
  }

  /** Stops keeping the JVM alive: the exit has returned, as in a test, or was abandoned. */
  void letGo() {
    letGo.countDown();
  }

  private void awaitLetGo() {
    while (true) {
      try {
        letGo.await();
        return;
      } catch (InterruptedException e) {
        // Some programs interrupt every thread there is; that must not turn the exit code into 0.
      }
    }
  }
}
