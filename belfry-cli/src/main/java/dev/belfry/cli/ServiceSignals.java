package dev.belfry.cli;

import dev.belfry.signals.Signals;
import java.io.PrintWriter;
import java.lang.System.Logger.Level;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * The signals of a command that runs until it is told to end. The signal standard handles them
 * instead of {@link EndingSignals}: TERM and INT end the command in good order, a second INT ends
 * it at once, and QUIT prints a thread dump. HUP ends it too: there is nothing to reload, and a
 * terminal that closes should take its commands with it.
 */
final class ServiceSignals {
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Signals signals;

  /** Handles the signals from now on. Only warnings and errors are reported. */
  ServiceSignals(PrintWriter err) {
    signals =
        Signals.builder()
            .log(
                record -> {
                  if (record.level().compareTo(Level.WARNING) >= 0) {
                    err.println("belfry: " + record.text());
                  }
                })
            .handle("QUIT", _ -> ThreadDump.print())
            .endOn("HUP")
            .open();
  }

  /** Sets how to stop the command. The process exits when it has ended, or when time is up. */
  void onEnd(Runnable stop) {
    signals.onShutdown(
        "the command",
        () -> {
          stop.run();
          ended.await();
        });
  }

  /** Reports that the command has ended. Does not return if a signal ended it. */
  void ended() {
    ended.countDown();
    if (signals.isShuttingDown()) {
      awaitExit(); // with the signal's exit code, not the command's
    }
  }

  private static void awaitExit() {
    while (true) {
      LockSupport.park();
    }
  }
}
