package dev.belfry.loop;

import java.io.IOException;

/** An operation did not complete within its time limit. */
public final class OperationTimeoutException extends IOException {
  private static final long serialVersionUID = 1;

  OperationTimeoutException(String message) {
    super(message);
  }
}
