package dev.belfry.examples;

import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.SignalInfo;
import dev.belfry.loop.SignalService;
import dev.belfry.loop.SignalSet;
import java.io.IOException;

/** A service that reloads on HUP and ends on INT or TERM. */
final class ReloadAndEnd {
  private ReloadAndEnd() {}

  public static void main(String[] args) throws IOException {
    // @start region="main"
    SignalLaunch.ensure(Sys.forAnyThread()); // starts this JVM again if signals are not blocked
    try (EventLoop loop = EventLoop.open()) {
      var signals = new SignalService(loop);
      loop.spawn("signals", () -> serve(loop, signals));
      loop.run();
    }
    // @end
  }

  // @start region="serve"
  private static void serve(EventLoop loop, SignalService signals) throws IOException {
    SignalSet handled = SignalSet.of(Signo.HUP, Signo.INT, Signo.TERM);
    signals.attach(handled);
    System.out.println("process " + ProcessHandle.current().pid() + " is up");
    SignalInfo signal = signals.awaitAny(handled);
    while (signal.signum() == Signo.HUP) {
      System.out.println("reloading, as process " + signal.pid() + " wants");
      signal = signals.awaitAny(handled);
    }
    System.out.println("ending on " + signal.name());
    loop.requestStop();
  }
  // @end
}
