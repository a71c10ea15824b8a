package dev.belfry.signals.linux;

import java.time.Duration;
import java.util.List;

/** A running program: lets a test send it signals and observe it. */
interface Stage extends AutoCloseable {
  /** Sends a signal, such as {@code TERM}. */
  void send(String signal) throws Exception;

  /** Lets time pass for the program. */
  void pass(Duration time) throws Exception;

  /** Waits for a line with this prefix that was not returned yet; returns its remainder. */
  String line(String prefix) throws Exception;

  /** Waits for the program to exit; returns its exit code. */
  int exitCode() throws Exception;

  /** Everything the program printed, in order, after its exit. */
  List<String> all() throws Exception;

  @Override
  void close();
}
