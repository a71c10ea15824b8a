package dev.belfry.loop;

import java.io.IOException;

/** The time that an operation was given was up before it had completed. */
public final class OperationTimeoutException extends IOException {
  private static final long serialVersionUID = 1;

  OperationTimeoutException(String message) {
    super(message);
  }
}
