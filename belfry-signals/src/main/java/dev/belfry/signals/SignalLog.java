package dev.belfry.signals;

/**
 * Where log records go. Called on a thread that does nothing else, so that nothing waits for a log
 * that is stuck; what is then too much is lost.
 */
@FunctionalInterface
public interface SignalLog {
  /** A record; one at a time, in their order. */
  void log(SignalRecord record);

  /** A line for whoever sits at the terminal, such as the hint after Ctrl+C; on any thread. */
  default void notice(String line) {
    System.err.println(line);
  }

  /** To the logger {@code dev.belfry.signals} of the platform, as one line of text each. */
  static SignalLog toSystemLogger() {
    System.Logger logger = System.getLogger("dev.belfry.signals");
    return record -> logger.log(record.level(), record.text());
  }
}
