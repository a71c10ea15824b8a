package dev.belfry.cli;

import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.Sys;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.channels.FileChannel;
import java.util.Locale;

/** The program's entry point. */
final class Main {
  private static final int FAILED = 1;

  private Main() {}

  /** Runs one command and exits with its exit code. */
  public static void main(String[] args) {
    // Output is in English and partly parsed by programs, so digits must not follow the locale.
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
      System.exit(exitCode); // threads that a command left behind must not keep the JVM alive
    }
  }

  private static void takeCareOfSignals() {
    try {
      if (SignalLaunch.isNeeded()) {
        SignalLaunch.ensure(Sys.forAnyThread());
      }
    } catch (IOException notRelaunched) {
      // Signals then have their usual effect in a JVM, which is enough to end a command. A command
      // that needs more checks the mask and reports it, as doctor does.
    }
    EndingSignals.start(Sys::forAnyThread);
  }

  /** Never closed: that would close standard output for the whole program. */
  private static FileChannel standardOutput() {
    return new FileOutputStream(FileDescriptor.out).getChannel();
  }
}
