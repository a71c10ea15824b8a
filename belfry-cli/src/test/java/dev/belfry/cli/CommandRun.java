package dev.belfry.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.linux.Sys;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;

/** The result of a command line that was run in the test's own JVM. */
record CommandRun(int exitCode, String out, String err) {

  static CommandRun of(String... args) {
    return with(Sys.forAnyThread(), args);
  }

  static CommandRun with(Sys sys, String... args) {
    var bytes = new ByteArrayOutputStream();
    var out = new PrintWriter(bytes, true, UTF_8);
    var err = new StringWriter();
    int exitCode = BelfryCommand.execute(() -> sys, bytes, out, new PrintWriter(err, true), args);
    out.flush();
    return new CommandRun(exitCode, bytes.toString(UTF_8), err.toString());
  }
}
