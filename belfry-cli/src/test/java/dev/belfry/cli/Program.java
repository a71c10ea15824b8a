package dev.belfry.cli;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import dev.belfry.linux.Sys;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/** A real process. Every wait has a deadline; closing kills what is left of the process. */
final class Program implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 60;

  private final Process process;
  private final BufferedReader out;
  private final StringBuilder errSoFar = new StringBuilder(); // guarded by itself
  private final CompletableFuture<String> err;

  private Program(Process process, boolean readErr) {
    this.process = process;
    this.out = process.inputReader(StandardCharsets.UTF_8);
    this.err =
        readErr
            ? inBackground(() -> readErr(process.errorReader(StandardCharsets.UTF_8)))
            : CompletableFuture.completedFuture("");
  }

  /** How to start a program. */
  static final class Start {
    private final ProcessBuilder builder = new ProcessBuilder();

    private Start(List<String> command) {
      // The build may itself be a background job or run under nohup, and so ignore signals.
      builder.command().addAll(List.of("env", "--default-signal"));
      builder.command().addAll(command);
      for (String variable : List.of("BELFRY_JAVA_HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")) {
        builder.environment().remove(variable);
      }
      // For programs of a few seconds, the JVM's second compiler is only a burden.
      builder.environment().put("BELFRY_JAVA_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
      builder.environment().put("BELFRY_NO_BUILD", "1");
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    }

    Start in(Path directory) {
      builder.directory(directory.toFile());
      return this;
    }

    Start with(String variable, String value) {
      builder.environment().put(variable, value);
      return this;
    }

    Start without(String variable) {
      builder.environment().remove(variable);
      return this;
    }

    /** Puts a directory first on the PATH. */
    Start withFirstOnPath(Path directory) {
      return with("PATH", directory + ":" + System.getenv("PATH"));
    }

    Program start() throws IOException {
      return new Program(builder.start(), true);
    }

    /** Starts it without reading standard error, which fills up. */
    Program startWithStuckErr() throws IOException {
      return new Program(builder.start(), false);
    }

    /** Runs the program to its end. */
    Result run() throws Exception {
      try (Program program = start()) {
        return program.end();
      }
    }
  }

  /** The exit code and output of a program. */
  record Result(int exitCode, String out, String err) {}

  static Start of(String... command) {
    return new Start(List.of(command));
  }

  static Start of(Path program, String... arguments) {
    var command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(arguments));
    return new Start(command);
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  int pid() {
    return (int) process.pid();
  }

  void signal(int signal) {
    if (Sys.forAnyThread().kill(pid(), signal) != 0) {
      throw new AssertionError("process " + pid() + " has gone");
    }
  }

  /** Sends a signal repeatedly until the program ends, as an impatient user would. */
  Result signalUntilTheEnd(int signal) throws Exception {
    for (int i = 0; i < 10 * DEADLINE_SECONDS; i++) {
      Sys.forAnyThread().kill(pid(), signal);
      if (process.waitFor(100, MILLISECONDS)) {
        return end();
      }
    }
    throw new AssertionError("does not end");
  }

  /** Reads standard output up to a line with this beginning, and returns that line. */
  String awaitLine(String start) throws Exception {
    return within(
        () -> {
          for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith(start)) {
              return line;
            }
          }
          throw new AssertionError("ended without saying " + start + ": " + end());
        });
  }

  /** Waits until standard error contains a text. */
  void awaitErr(String text) throws Exception {
    awaitErr(text, 1);
  }

  /** Waits until standard error contains a text that many times. */
  void awaitErr(String text, int times) throws Exception {
    for (int i = 0; i < 50 * DEADLINE_SECONDS; i++) {
      if (errSoFar().split(Pattern.quote(text), -1).length > times) {
        return;
      }
      Thread.sleep(20);
    }
    throw new AssertionError("standard error lacks '" + text + "': " + errSoFar());
  }

  void say(String line) throws IOException {
    process.outputWriter(StandardCharsets.UTF_8).append(line).append('\n').flush();
  }

  /** Closes standard input, reads standard output to its end and waits for the program to end. */
  Result end() throws Exception {
    process.getOutputStream().close();
    String rest = within(() -> String.join("\n", out.lines().toList()));
    return new Result(exitCode(), rest, err.get(DEADLINE_SECONDS, SECONDS));
  }

  /** Closes standard output, so that the next write to it fails. */
  void closeOut() throws IOException {
    out.close();
  }

  /** Waits for the program to end, whether or not its output was read. */
  int exitCode() throws InterruptedException {
    if (!process.waitFor(DEADLINE_SECONDS, SECONDS)) {
      throw new AssertionError("does not end");
    }
    return process.exitValue();
  }

  @Override
  public void close() throws IOException {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.getInputStream().close();
  }

  private interface Task<T> {
    T run() throws Exception;
  }

  private static <T> T within(Task<T> task) throws Exception {
    try {
      return inBackground(task).get(DEADLINE_SECONDS, SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e;
    } catch (TimeoutException e) {
      throw new AssertionError("nothing within " + DEADLINE_SECONDS + " s", e);
    }
  }

  private static <T> CompletableFuture<T> inBackground(Task<T> task) {
    var result = new CompletableFuture<T>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                result.complete(task.run());
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            });
    return result;
  }

  private String readErr(Reader reader) throws IOException {
    var buffer = new char[4096];
    for (int count = reader.read(buffer); count >= 0; count = reader.read(buffer)) {
      synchronized (errSoFar) {
        errSoFar.append(buffer, 0, count);
      }
    }
    return errSoFar();
  }

  private String errSoFar() {
    synchronized (errSoFar) {
      return errSoFar.toString();
    }
  }
}
