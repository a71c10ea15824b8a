package dev.belfry.workers;

/** The method failed in the worker; the message says how. */
public final class MethodFailed extends CallException {
  private static final long serialVersionUID = 1;

  MethodFailed(String message) {
    super(message);
  }
}
