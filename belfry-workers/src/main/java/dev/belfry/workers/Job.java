package dev.belfry.workers;

/**
 * A call for a worker to handle.
 *
 * @param id the call's id in the pool
 */
record Job(long id, Worker.Method method, Request request) {
  /** Whether handling it probably takes less time than handing it to another thread. */
  boolean isShort() {
    return method.pace().isShort();
  }
}
