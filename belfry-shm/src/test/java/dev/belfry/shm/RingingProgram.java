package dev.belfry.shm;

import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalActions;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;

/** Rings a bell whose other end is closed, in a program that leaves SIGPIPE at its default. */
final class RingingProgram {
  private RingingProgram() {}

  public static void main(String[] arguments) throws Exception {
    Sys sys = Sys.forAnyThread();
    Doorbell.Pair bells = Doorbell.pair(sys);
    bells.host().close();
    SignalActions.restoreDefault(sys, SigSet.of(Signo.PIPE));
    System.out.println(bells.guest().ring());
  }
}
