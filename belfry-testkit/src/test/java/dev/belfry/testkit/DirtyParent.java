package dev.belfry.testkit;

import dev.belfry.linux.EventFd;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalMask;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.linux.ThreadSignals;

/**
 * A JVM with much that a child must not inherit: signals ignored (by the process that started it),
 * signals blocked, and inheritable descriptors. It says so, and starts the given program with two
 * descriptors.
 */
final class DirtyParent {
  private DirtyParent() {}

  public static void main(String[] args) throws Exception {
    Sys sys = Sys.forAnyThread();
    SignalMask.set(sys, SigSet.of(Signo.TERM, Signo.USR2, Signo.CHLD, 40, 64));
    try (EventFd leak = EventFd.create(sys);
        Fd high = FdFlags.duplicate(sys, leak.number(), 100);
        Fd alpha = SharedFile.createAnonymous(sys, "alpha");
        Fd beta = SharedFile.createAnonymous(sys, "beta")) {
      FdFlags.setCloseOnExec(sys, leak.number(), false);
      FdFlags.setCloseOnExec(sys, high.number(), false);
      SigSet blocked = SignalMask.block(sys, SigSet.EMPTY);
      System.out.println("parent blocked " + blocked);
      System.out.println("parent ignored " + ThreadSignals.ofThisProcess().getFirst().ignored());
      System.out.println("parent inheritable " + leak.number() + " " + high.number());
      System.out.flush();
      try (PidFd child =
          Spawn.command(args[0]).pass(alpha.number()).pass(beta.number()).start(sys)) {
        System.out.println("child " + child.awaitExit());
      }
    }
  }
}
