package dev.belfry.loop;

import java.io.IOException;

/** The time of a wait for a signal was up before one came. */
public final class SignalTimeoutException extends IOException {
  private static final long serialVersionUID = 1;

  SignalTimeoutException(String message) {
    super(message);
  }
}
