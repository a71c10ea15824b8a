package dev.belfry.workers;

/**
 * A call that a worker has to do.
 *
 * @param id what the pool knows it by
 */
record Job(long id, Worker.Method method, Request request) {
  /** Whether it takes longer to hand it to another thread than to do it. */
  boolean isShort() {
    return method.pace().isShort();
  }
}
