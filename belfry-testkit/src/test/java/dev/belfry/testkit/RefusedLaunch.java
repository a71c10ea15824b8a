package dev.belfry.testkit;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.Sys;
import dev.belfry.linux.ThreadSignals;

/** A JVM that cannot relaunch itself; it prints why, and which signals it still catches. */
final class RefusedLaunch {
  private RefusedLaunch() {}

  public static void main(String[] args) throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.fail("execve", Errno.E2BIG);
    try {
      SignalLaunch.ensure(tap.sys());
    } catch (ErrnoException e) {
      System.out.println("refused " + Errno.name(e.errno()));
    }
    System.out.println("caught " + ThreadSignals.ofThisProcess().getFirst().caught());
  }
}
