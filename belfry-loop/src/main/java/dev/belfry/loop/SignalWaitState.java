package dev.belfry.loop;

/** The state of a wait for a signal. */
// r[impl sig.state.machine]
enum SignalWaitState {
  /** Queued for each of its signals. */
  WAITING,
  /** Has its signal; its resumption is in the loop's queue. */
  NOTIFIED,
  /** Has received its signal. */
  RESUMED,
  /** Was cancelled, or ran out of time. */
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
