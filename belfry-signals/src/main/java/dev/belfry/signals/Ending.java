package dev.belfry.signals;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One ending of the process: which signal asked for it, and how far it has got. */
final class Ending {
  private enum State {
    /** Handlers and cleanups are at work. */
    WORKING,
    /** They are done and the JVM exits, with hooks that may hang. */
    EXITING,
    /** Ended at once, or a test's exit has returned: nothing more happens here. */
    OVER
  }

  private final AtomicReference<State> state = new AtomicReference<>(State.WORKING);

  /** Open once the JVM need not be kept alive any more. */
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

  /** Whether the caller is the one that may exit in good order. */
  boolean beginExit() {
    return state.compareAndSet(State.WORKING, State.EXITING);
  }

  /** Whether the caller is the one that ended it. */
  boolean end() {
    SignalClock.Timer timer = limit;
    if (timer != null) {
      timer.close();
    }
    return state.getAndSet(State.OVER) != State.OVER;
  }

  /**
   * Keeps the JVM alive until {@link #letGo}. Everything else here runs on daemon threads, which
   * were started when there was memory for them: without this one a program whose own threads end
   * because it is told to would end in the midst of its cleanups, and with 0.
   */
  // r[impl signals.exit.128n]
  void keepAlive() {
    try {
      Thread.ofPlatform().daemon(false).name("belfry-signals-end").start(this::awaitLetGo);
    } catch (OutOfMemoryError noThread) {
      // It goes on all the same; only that it does not outlive the program's own threads.
    }
  }

  /** The process lives though the exit has returned, as in a test; or nobody waits for it. */
  void letGo() {
    letGo.countDown();
  }

  private void awaitLetGo() {
    while (true) {
      try {
        letGo.await();
        return;
      } catch (InterruptedException e) {
        // By whoever interrupts all threads that there are: it is not a reason to exit with 0.
      }
    }
  }
}
