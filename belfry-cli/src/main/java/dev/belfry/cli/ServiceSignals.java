package dev.belfry.cli;

import dev.belfry.signals.Signals;
import java.io.PrintWriter;
import java.lang.System.Logger.Level;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * The signals of a command that runs until somebody ends it. They come from the signal standard
 * instead of {@link EndingSignals}: TERM and INT end it in good order, a second INT at once, QUIT
 * prints where the threads are, and HUP ends it too, because there is nothing to reload and a
 * terminal that is closed should take its commands with it.
 */
final class ServiceSignals {
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Signals signals;

  /** Takes effect at once; of what happens, only what is wrong is reported. */
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

  /** What makes the command end; the process exits when it has, or when the time is up. */
  void onEnd(Runnable stop) {
    signals.onShutdown(
        "the command",
        () -> {
          stop.run();
          ended.await();
        });
  }

  /** The command has ended, by itself or because of a signal. In the latter case never returns. */
  void ended() {
    ended.countDown();
    if (signals.isShuttingDown()) {
      awaitExit(); // with the code of the signal, and not with that of the command
    }
  }

  private static void awaitExit() {
    while (true) {
      LockSupport.park();
    }
  }
}
