package dev.belfry.testkit;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.SignalMask;
import dev.belfry.linux.Sys;
import java.util.OptionalLong;

/** A JVM that cannot relaunch itself, and prints the outcome. */
final class FailedRelaunch {
  private FailedRelaunch() {}

  public static void main(String[] args) throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.script("execve", (nth, _) -> OptionalLong.of(nth == 1 ? -Errno.EINTR : -Errno.ENOMEM));
    SigSet before = SignalMask.block(tap.sys(), SigSet.EMPTY);
    try {
      SignalLaunch.ensure(tap.sys());
      System.out.println("started");
    } catch (ErrnoException e) {
      System.out.println(e.call() + " " + Errno.name(e.errno()));
    }
    System.out.println("calls " + tap.calls("execve"));
    System.out.println("same mask " + before.equals(SignalMask.block(tap.sys(), SigSet.EMPTY)));
  }
}
