package dev.belfry.loop;

import dev.belfry.loop.WaitQueue.Readiness;

/**
 * Retries a direction after a pause when no event would tell that a call is worth another attempt:
 * a listener that found no free descriptor, a connect to a full Unix listener. The pauses double
 * from a millisecond to a hundred, and start over when a call succeeds.
 */
final class RetryTimer {
  private static final long FIRST_NANOS = 1_000_000;
  private static final long LONGEST_NANOS = 100_000_000;

  private final Handle handle;
  private final WaitQueue direction;
  private final TimerOperation timer;
  private long pauseNanos = FIRST_NANOS;
  private boolean running;

  RetryTimer(Handle handle, WaitQueue direction) {
    this.handle = handle;
    this.direction = direction;
    this.timer = TimerOperation.internal(handle.loop);
  }

  void start() {
    if (!running) {
      running = true;
      timer.afterNanos(pauseNanos).start(this::fired);
      pauseNanos = Math.min(pauseNanos * 2, LONGEST_NANOS);
    }
  }

  boolean isRunning() {
    return running;
  }

  void callSucceeded() {
    pauseNanos = FIRST_NANOS;
  }

  void cancel() {
    if (running) {
      timer.cancel();
    }
  }

  private void fired(Operation<? extends Void> fired) {
    running = false;
    if (handle.isClosed()) {
      return;
    }
    if (fired.hasValue()) {
      direction.readiness = Readiness.READY;
      handle.loop.driver.resume(handle);
    } else { // the loop ends, and nothing else would continue these
      IoOperation<?> waiting = direction.first();
      while (waiting != null) {
        IoOperation<?> following = waiting.following;
        handle.loop.driver.cancel(waiting); // it stays queued while the kernel has it
        waiting = following;
      }
    }
  }
}
