package dev.belfry.signals.linux;

import java.time.Duration;
import java.util.List;

/** A program that runs, and how a test sends it signals and sees what it does. */
interface Stage extends AutoCloseable {
  /** Sends a signal, such as {@code TERM}. */
  void send(String signal) throws Exception;

  /** Lets time pass for the program. */
  void pass(Duration time) throws Exception;

  /** Waits for a line that begins so and was not returned yet; returns the rest of it. */
  String line(String prefix) throws Exception;

  /** Waits until it exits; returns the code. */
  int exitCode() throws Exception;

  /** Everything it has said, in order, after it has exited. */
  List<String> all() throws Exception;

  @Override
  void close();
}
