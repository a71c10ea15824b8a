package dev.belfry.loop;

import java.util.concurrent.CancellationException;

/**
 * An awaited operation was stopped: by its token, by closing its handle, by stopping its loop, or
 * by interrupting the awaiting thread, whose interrupt status is then still set.
 */
public final class StoppedException extends CancellationException {
  private static final long serialVersionUID = 1;

  StoppedException(String message) {
    super(message);
  }
}
