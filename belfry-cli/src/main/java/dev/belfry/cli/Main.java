package dev.belfry.cli;

import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.Sys;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.channels.FileChannel;
import java.util.Locale;

/** The start of the program. */
final class Main {
  private static final int FAILED = 1;

  private Main() {}

  /** Runs one command and exits with what it says. */
  public static void main(String[] args) {
    // What it prints is in English and partly read by programs, whatever digits the user has.
    Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
    takeCareOfSignals();
    var out = new StandardOutput(standardOutput(), Sys::forAnyThread);
    var err = new PrintWriter(System.err, true, System.err.charset());
    int exitCode = FAILED;
    try {
      exitCode =
          out.finish(BelfryCommand.execute(Sys::forAnyThread, out, out.writer(), err, args), err);
    } catch (OutOfMemoryError e) {
      err.println("belfry: there is not enough memory for this: " + e.getMessage());
    } catch (Error e) {
      e.printStackTrace(err);
    } finally {
      System.exit(exitCode); // whatever threads a command has left behind, they do not go on alone
    }
  }

  private static void takeCareOfSignals() {
    try {
      if (SignalLaunch.isNeeded()) {
        SignalLaunch.ensure(Sys.forAnyThread());
      }
    } catch (IOException notRelaunched) {
      // Then signals do what they do in any JVM, which is enough to end a command. A command that
      // needs more checks the mask and says so, as doctor does.
    }
    EndingSignals.start(Sys::forAnyThread);
  }

  /** Never closed: that would close it for the whole program. */
  private static FileChannel standardOutput() {
    return new FileOutputStream(FileDescriptor.out).getChannel();
  }
}
