package dev.belfry.workers;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A call as its worker sees it. */
public final class Request {
  private final String method;
  private final byte[] payload;
  private final long startNanos;
  private final long deadlineNanos;
  private final boolean limited;
  private boolean begun;
  private boolean cancelled;

  /** The thread that handles the call and can be interrupted; written with the lock held. */
  private volatile @Nullable Thread thread;

  Request(String method, byte[] payload, int timeLeftMillis) {
    this.method = method;
    this.payload = payload;
    this.limited = timeLeftMillis > 0;
    this.startNanos = System.nanoTime();
    this.deadlineNanos = startNanos + timeLeftMillis * 1_000_000L;
  }

  /** The method that was called. */
  public String method() {
    return method;
  }

  /** The payload itself, not a copy. */
  public byte[] payload() {
    return payload;
  }

  /** The payload as text, in UTF-8. */
  public String text() {
    return new String(payload, StandardCharsets.UTF_8);
  }

  /** How long the caller will still wait, never negative; empty if it has no deadline. */
  public Optional<Duration> timeLeft() {
    return limited
        ? Optional.of(Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime())))
        : Optional.empty();
  }

  /** Whether the answer is no longer wanted. If so, the handling thread was interrupted too. */
  public synchronized boolean isCancelled() {
    return cancelled;
  }

  /** When it was read. */
  long startNanos() {
    return startNanos;
  }

  /**
   * Begins the call on a thread, which is interrupted if the call is cancelled.
   *
   * @return false if it has been cancelled before, and answered
   */
  synchronized boolean begin(Thread worksOnIt) {
    if (cancelled) {
      return false;
    }
    begun = true;
    thread = worksOnIt;
    return true;
  }

  /**
   * Ends the call on the current thread, and clears the thread's interrupt status, whether it was
   * set for the call or left behind by the method.
   */
  void end() {
    if (thread != null) {
      synchronized (this) {
        thread = null;
      }
    }
    Thread.interrupted();
  }

  /** Cancels the call; returns whether no thread had begun it, so that none need. */
  synchronized boolean cancel() {
    cancelled = true;
    Thread working = thread;
    if (working != null) {
      working.interrupt();
    }
    return !begun;
  }
}
