package dev.belfry.workers;

/** The answer did not come in time. The worker was told to stop. */
public final class DeadlinePassed extends CallException {
  private static final long serialVersionUID = 1;

  DeadlinePassed(String method, long millis) {
    super("no answer of '%s' within %d ms".formatted(method, millis));
  }
}
