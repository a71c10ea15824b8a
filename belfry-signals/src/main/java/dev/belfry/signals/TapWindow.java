package dev.belfry.signals;

import java.time.Duration;

/** Detects a second Ctrl+C within a window of time. */
// r[impl signals.test.doubletap]
final class TapWindow {
  private final long windowNanos;
  private boolean pressed;
  private long pressedAtNanos;

  TapWindow(Duration window) {
    this.windowNanos = window.toNanos();
  }

  /**
   * Counts a press.
   *
   * @return whether it falls into the window that the first press opened, which forces the exit; a
   *     later press opens a new window
   */
  // r[impl signals.doubletap.window]
  // r[impl signals.doubletap.reset]
  synchronized boolean isSecond(long nowNanos) {
    boolean second = pressed && nowNanos - pressedAtNanos < windowNanos;
    pressed = true;
    if (!second) {
      pressedAtNanos = nowNanos;
    }
    return second;
  }

  synchronized void forget() {
    pressed = false;
  }
}
