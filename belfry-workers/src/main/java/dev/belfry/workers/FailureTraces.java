package dev.belfry.workers;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Prints the stack traces of failed methods, which their callers do not see. Prints only the first
 * few each minute, so that a method that fails at every call does not fill the host's log.
 * Thread-safe.
 */
final class FailureTraces {
  private static final int MAX_A_MINUTE = 10;
  private static final int MAX_LINES = 100;
  private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();

  private final PrintStream out;
  private final LongSupplier nanoClock;

  // Guarded by this.
  private long minuteNanos;
  private long inThisMinute;

  FailureTraces(PrintStream out, LongSupplier nanoClock) {
    this.out = out;
    this.nanoClock = nanoClock;
    this.minuteNanos = nanoClock.getAsLong();
  }

  /** Prints a failure. The call has been answered before, so no caller waits for this. */
  void show(String method, Throwable failure) {
    String before = "";
    String after = "";
    synchronized (this) {
      long now = nanoClock.getAsLong();
      if (now - minuteNanos >= MINUTE_NANOS) {
        long hidden = inThisMinute - MAX_A_MINUTE;
        before = hidden > 0 ? hidden + " more calls have failed\n" : "";
        minuteNanos = now;
        inThisMinute = 0;
      }
      inThisMinute++;
      if (inThisMinute > MAX_A_MINUTE) {
        return;
      }
      if (inThisMinute == MAX_A_MINUTE) {
        after = "more calls that fail within this minute are not shown\n";
      }
    }
    // In one piece, so that the traces of several threads do not interleave.
    out.print(before + "a call to '" + method + "' has failed:\n" + trace(failure) + after);
    out.flush();
  }

  /** The stack trace of an exception; its class is user code, and may itself throw. */
  private static String trace(Throwable failure) {
    try {
      var text = new StringWriter();
      failure.printStackTrace(new PrintWriter(text));
      List<String> lines = text.toString().lines().toList();
      int more = lines.size() - MAX_LINES;
      return String.join("\n", lines.subList(0, Math.min(lines.size(), MAX_LINES)))
          + (more > 0 ? "\n\t... " + more + " more lines\n" : "\n");
    } catch (Throwable another) {
      return failure.getClass().getName() + "\n";
    }
  }
}
