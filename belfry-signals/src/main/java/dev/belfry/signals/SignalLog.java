package dev.belfry.signals;

/**
 * Where log records go. Called on a thread that does nothing else, so that nothing waits for a log
 * that is stuck; records beyond what is kept meanwhile are lost.
 */
@FunctionalInterface
public interface SignalLog {
  /** Takes a record; they come one at a time, in order. */
  void log(SignalRecord record);

  /** A line for whoever sits at the terminal, such as the hint after Ctrl+C; on any thread. */
  default void notice(String line) {
    System.err.println(line);
  }

  /**
   * Sends each record to the platform logger {@code dev.belfry.signals}, as one line of text; with
   * the stack trace of what was thrown, if something was.
   */
  static SignalLog toSystemLogger() {
    System.Logger logger = System.getLogger("dev.belfry.signals");
    return record -> logger.log(record.level(), record.text(), record.error());
  }
}
