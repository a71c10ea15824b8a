package dev.belfry.workers;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A call, as its worker sees it. */
public final class Request {
  private final String method;
  private final byte[] payload;
  private final long startNanos;
  private final long deadlineNanos;
  private final boolean limited;
  private boolean begun;
  private boolean cancelled;

  /** The thread that works on it and can be interrupted; changed with the lock held. */
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

  /** The payload; this is not a copy. */
  public byte[] payload() {
    return payload;
  }

  /** The payload as text. */
  public String text() {
    return new String(payload, StandardCharsets.UTF_8);
  }

  /** How long the caller still waits, not below zero; empty if it waits for ever. */
  public Optional<Duration> timeLeft() {
    return limited
        ? Optional.of(Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime())))
        : Optional.empty();
  }

  /** Whether nobody waits for the answer any more. Then the thread was also interrupted. */
  public synchronized boolean isCancelled() {
    return cancelled;
  }

  /** When it came. */
  long startNanos() {
    return startNanos;
  }

  /**
   * A thread begins to work on it, and is to be interrupted if the call is cancelled.
   *
   * @return false if it was cancelled before, and has been answered
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
   * The current thread no longer works on it, and keeps no interrupt: neither one that was meant
   * for the call, nor one that the method has left behind.
   */
  void end() {
    if (thread != null) {
      synchronized (this) {
        thread = null;
      }
    }
    Thread.interrupted();
  }

  /** Nobody waits for it any more; returns whether nobody has begun it, so that nobody need. */
  synchronized boolean cancel() {
    cancelled = true;
    Thread working = thread;
    if (working != null) {
      working.interrupt();
    }
    return !begun;
  }
}
