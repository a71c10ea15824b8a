package dev.belfry.signals;

import java.time.Duration;

/** Counts the presses of Ctrl+C. */
// r[impl signals.test.doubletap]
final class TapWindow {
  private final long windowNanos;
  private boolean pressed;
  private long pressedAtNanos;

  TapWindow(Duration window) {
    this.windowNanos = window.toNanos();
  }

  /**
   * A press.
   *
   * @return whether it is the second within the window, which forces the exit; a later one counts
   *     as a first again
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
