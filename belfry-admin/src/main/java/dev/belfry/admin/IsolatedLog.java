package dev.belfry.admin;

import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;

/**
 * A log that may fail, as on a full disk, and harms nobody by it: what was asked for is done all
 * the same, above all a signal that is to end the process.
 *
 * @param log the program's own
 */
record IsolatedLog(SignalLog log) implements SignalLog {
  @Override
  public void log(SignalRecord record) {
    try {
      log.log(record);
    } catch (RuntimeException | Error e) {
      System.err.println("belfry: the log of the admin surface failed: " + FailureText.of(e));
    }
  }
}
