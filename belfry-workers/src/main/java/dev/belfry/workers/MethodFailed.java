package dev.belfry.workers;

/** The worker has done what it could and failed; the message is its own. */
public final class MethodFailed extends CallException {
  private static final long serialVersionUID = 1;

  MethodFailed(String message) {
    super(message);
  }
}
