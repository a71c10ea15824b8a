package dev.belfry.workers;

/** No worker has a method of that name. */
public final class UnknownMethod extends CallException {
  private static final long serialVersionUID = 1;

  UnknownMethod(String method) {
    super("no worker has a method '" + method + "'");
  }
}
