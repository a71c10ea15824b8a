package dev.belfry.cli;

import dev.belfry.linux.Sys;
import java.io.PrintWriter;
import java.io.StringWriter;

/** What a command line gave when it was run inside the test's own JVM. */
record CommandRun(int exitCode, String out, String err) {

  static CommandRun of(String... args) {
    return with(Sys.forAnyThread(), args);
  }

  static CommandRun with(Sys sys, String... args) {
    var out = new StringWriter();
    var err = new StringWriter();
    int exitCode =
        BelfryCommand.execute(sys, new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new CommandRun(exitCode, out.toString(), err.toString());
  }
}
