package dev.belfry.workers;

/** The pool takes no more calls. */
public final class PoolClosed extends CallException {
  private static final long serialVersionUID = 1;

  PoolClosed() {
    super("the pool is closed, or about to close");
  }
}
