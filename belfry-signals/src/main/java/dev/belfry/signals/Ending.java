package dev.belfry.signals;

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
}
