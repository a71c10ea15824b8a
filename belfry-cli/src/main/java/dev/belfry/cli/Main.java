package dev.belfry.cli;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;

/** The start of the program. */
final class Main {
  private static final int FAILED = 1;

  private Main() {}

  /** Runs one command and exits with what it says. */
  public static void main(String[] args) {
    // What it prints is in English and partly read by programs, whatever digits the user has.
    Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
    Sys sys = Sys.forAnyThread();
    takeCareOfSignals(sys);
    var out = new StandardOutput(sys);
    var err = new PrintWriter(System.err, true, System.err.charset());
    int exitCode = FAILED;
    try {
      exitCode = out.finish(BelfryCommand.execute(sys, out, out.writer(), err, args), err);
    } catch (OutOfMemoryError e) {
      err.println("belfry: there is not enough memory for this: " + e.getMessage());
    } catch (Error e) {
      e.printStackTrace(err);
    } finally {
      System.exit(exitCode); // whatever threads a command has left behind, they do not go on alone
    }
  }

  private static void takeCareOfSignals(Sys sys) {
    try {
      SignalLaunch.ensure(sys);
    } catch (IOException notRelaunched) {
      // Then signals do what they do in any JVM, which is enough to end a command. A command that
      // needs more checks the mask and says so, as doctor does.
    }
    try {
      EndingSignals.start(sys);
    } catch (ErrnoException e) {
      System.err.println(
          "belfry: cannot watch for signals, only SIGKILL will end this command early: "
              + e.getMessage());
    }
  }
}
