package dev.belfry.loop;

/** Where a wait for a signal stands. */
// r[impl sig.state.machine]
enum SignalWaitState {
  /** In the queues of its signals. */
  WAITING,
  /** Has its signal; the resume stands in the loop's queue. */
  NOTIFIED,
  /** Was given its signal. */
  RESUMED,
  /** Was withdrawn, or its time was up. */
  CANCELED;

  /**
   * The next state.
   *
   * @throws IllegalStateException if it cannot follow this one
   */
  SignalWaitState to(SignalWaitState next) {
    boolean follows =
        switch (this) {
          case WAITING -> next == NOTIFIED || next == CANCELED;
          case NOTIFIED -> next == RESUMED || next == CANCELED;
          case RESUMED, CANCELED -> false;
        };
    if (!follows) {
      throw new IllegalStateException("a wait cannot go from " + this + " to " + next);
    }
    return next;
  }
}
