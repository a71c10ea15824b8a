package dev.belfry.signals;

/**
 * Receives log records, on a thread of its own, so that a blocked log delays nothing else. While it
 * is blocked, records are queued up to a limit; the rest are dropped.
 */
@FunctionalInterface
public interface SignalLog {
  /** Writes a record. Called for one record at a time, in order. */
  void log(SignalRecord record);

  /**
   * Shows a line to the user at the terminal, such as the hint after Ctrl+C. Called on any thread.
   */
  default void notice(String line) {
    System.err.println(line);
  }

  /**
   * Sends each record to the system logger {@code dev.belfry.signals} as one line of text, with the
   * exception if there is one.
   */
  static SignalLog toSystemLogger() {
    System.Logger logger = System.getLogger("dev.belfry.signals");
    return record -> logger.log(record.level(), record.text(), record.error());
  }
}
