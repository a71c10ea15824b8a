package dev.belfry.loop;

import java.io.IOException;

/** The time for an operation was up before it had completed; it was withdrawn. */
public final class TimedOutException extends IOException {
  private static final long serialVersionUID = 1;

  TimedOutException(String message) {
    super(message);
  }
}
