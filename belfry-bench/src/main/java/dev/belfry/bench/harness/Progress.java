package dev.belfry.bench.harness;

import java.io.Console;
import java.io.PrintStream;
import java.util.Optional;

/** Shows on one line what is going on and how far it is; silent unless on a terminal. */
public final class Progress implements AutoCloseable {
  private static final String CLEAR_LINE = "\r\u001b[K";

  private final PrintStream out = System.err;
  private final boolean visible;
  private final int steps;
  private int step;

  public Progress(int steps) {
    this.visible = Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
    this.steps = steps;
  }

  /** Begins a step. */
  public void step(String what) {
    if (visible) {
      int percent = steps == 0 ? 0 : Math.min(99, 100 * step / steps);
      out.print(CLEAR_LINE + percent + " %  " + what);
      out.flush();
    }
    step++;
  }

  /** Clears the line. */
  @Override
  public void close() {
    if (visible) {
      out.print(CLEAR_LINE);
      out.flush();
    }
  }
}
