package dev.belfry.testkit;

import dev.belfry.linux.Sys;

/**
 * An operation of a facility, with the system call that a test makes fail.
 *
 * @param what its name
 * @param call the method of {@link Sys} that is made to fail
 * @param symbol the call's name in messages
 * @param which the ordinal of the call that fails, from 1
 * @param policy what a failure leads to
 * @param body performs the operation with the given system calls; creates and closes everything
 *     else it needs. Returns what the facility returned, or zero if that is nothing
 */
record Operation(String what, String call, String symbol, int which, Policy policy, Body body) {

  /** How the facility responds to a failed call. */
  enum Policy {
    /** Repeats an interrupted call; throws any other error. */
    THROWS(true, true),
    /** Repeats an interrupted call; returns any other error. */
    RETURNS(true, false),
    /** As {@link #THROWS}, but EAGAIN means that another holder has the lock. */
    LOCKS(true, true),
    /** Throws every error: the call is never interrupted. */
    THROWS_ALL(false, true),
    /** Returns every error, including EINTR. */
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

  /** An operation whose first such call fails. */
  static Operation row(String what, String call, String symbol, Policy policy, Body body) {
    return new Operation(what, call, symbol, 1, policy, body);
  }

  @Override
  public String toString() {
    return what + (which > 1 ? ", call " + which : "");
  }
}
