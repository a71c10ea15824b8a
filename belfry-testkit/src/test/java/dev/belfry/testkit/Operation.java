package dev.belfry.testkit;

import dev.belfry.linux.Sys;

/**
 * Something a facility does by a system call that a test makes fail.
 *
 * @param what names it
 * @param call the method of {@link Sys} that is made to fail
 * @param symbol the call's name in messages
 * @param which the how-manyth of these calls, from 1
 * @param policy what a failure leads to
 * @param body does it, with the system calls it is given; what it needs besides it makes and closes
 *     by itself. Returns what the facility returned, zero if that is nothing
 */
record Operation(String what, String call, String symbol, int which, Policy policy, Body body) {

  /** What the facility does about a call that fails. */
  enum Policy {
    /** Repeats an interrupted call; throws any other error. */
    THROWS(true, true),
    /** Repeats an interrupted call; returns any other error. */
    RETURNS(true, false),
    /** As {@link #THROWS}, but EAGAIN is the answer that somebody else has the lock. */
    LOCKS(true, true),
    /** Throws every error: this call is never interrupted. */
    THROWS_ALL(false, true),
    /** Returns every error, also that it was interrupted. */
    RETURNS_ALL(false, false);

    final boolean repeats;
    final boolean throwing;

    Policy(boolean repeats, boolean throwing) {
      this.repeats = repeats;
      this.throwing = throwing;
    }
  }

  interface Body {
    long run(Sys sys) throws Exception;
  }

  /** One whose first such call fails. */
  static Operation row(String what, String call, String symbol, Policy policy, Body body) {
    return new Operation(what, call, symbol, 1, policy, body);
  }

  @Override
  public String toString() {
    return what + (which > 1 ? ", call " + which : "");
  }
}
