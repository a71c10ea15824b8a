package dev.belfry.admin;

import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;

/**
 * Shields the surface from a log that throws, say on a full disk: requests must still be carried
 * out, above all a signal that ends the process.
 *
 * @param log the program's log
 */
record IsolatedLog(SignalLog log) implements SignalLog {
  @Override
  public void log(SignalRecord record) {
    isolated(() -> log.log(record));
  }

  @Override
  public void notice(String line) {
    isolated(() -> log.notice(line));
  }

  private static void isolated(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException | Error e) {
      System.err.println("belfry: the log of the admin surface failed: " + SignalRecord.textOf(e));
    }
  }
}
