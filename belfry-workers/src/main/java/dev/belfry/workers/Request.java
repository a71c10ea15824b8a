package dev.belfry.workers;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A call, as its worker sees it. */
public final class Request {
  private final String method;
  private final byte[] payload;
  private final long deadlineNanos;
  private final boolean limited;
  private boolean cancelled;
  private @Nullable Thread thread;

  Request(String method, byte[] payload, int timeLeftMillis) {
    this.method = method;
    this.payload = payload;
    this.limited = timeLeftMillis > 0;
    this.deadlineNanos = System.nanoTime() + timeLeftMillis * 1_000_000L;
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

  /** The current thread works on it from now on. */
  synchronized void begin() {
    thread = Thread.currentThread();
    if (cancelled) {
      thread.interrupt();
    }
  }

  /** The current thread no longer works on it, and keeps no interrupt that was meant for it. */
  synchronized void end() {
    thread = null;
    if (cancelled) {
      Thread.interrupted();
    }
  }

  synchronized void cancel() {
    cancelled = true;
    if (thread != null) {
      thread.interrupt();
    }
  }
}
