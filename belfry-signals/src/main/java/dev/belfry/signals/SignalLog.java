package dev.belfry.signals;

/** Where log records go. Called on any thread, never on the one that receives the signals. */
@FunctionalInterface
public interface SignalLog {
  /** A record. */
  void log(SignalRecord record);

  /** A line for whoever sits at the terminal, such as the hint after Ctrl+C. */
  default void notice(String line) {
    System.err.println(line);
  }

  /** To the logger {@code dev.belfry.signals} of the platform, as one line of text each. */
  static SignalLog toSystemLogger() {
    System.Logger logger = System.getLogger("dev.belfry.signals");
    return record -> logger.log(record.level(), record.text());
  }
}
