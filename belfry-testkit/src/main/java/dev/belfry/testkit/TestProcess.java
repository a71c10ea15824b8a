package dev.belfry.testkit;

import dev.belfry.linux.SignalLaunch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A process that a test talks to line by line. No wait exceeds {@link #PATIENCE}: the test then
 * fails with everything the process has printed. Closing kills the process if it still runs.
 */
public final class TestProcess implements AutoCloseable {
  /** How long any wait for the process may last. */
  public static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<String> command;
  private final Process process;
  private final Writer input;

  /** The lines of both its streams; an empty value at the end. */
  private final BlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();

  /** The lines taken from there, for failure messages. */
  private final List<String> seen = new ArrayList<>();

  private TestProcess(List<String> command, Process process) {
    this.command = command;
    this.process = process;
    this.input = process.outputWriter(StandardCharsets.UTF_8);
    Thread.ofPlatform().daemon().name("lines of " + process.pid()).start(this::readLines);
  }

  /** Starts a program; its standard error is merged with its standard output. */
  public static TestProcess start(List<String> command) throws IOException {
    return new TestProcess(command, new ProcessBuilder(command).redirectErrorStream(true).start());
  }

  /** Starts a program; its standard error is merged with its standard output. */
  public static TestProcess start(String... command) throws IOException {
    return start(List.of(command));
  }

  /** Starts a JVM with the class path of this one. */
  public static TestProcess java(Class<?> main, String... arguments) throws IOException {
    return start(javaCommand(main, arguments));
  }

  /** The command that {@link #java} runs. */
  public static List<String> javaCommand(Class<?> main, String... arguments) {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(Arrays.asList(arguments));
    return command;
  }

  /**
   * Starts a JVM the way the launcher does: with the signals that a descriptor can deliver blocked
   * in all its threads.
   */
  // r[impl sig.test.avoid]
  public static TestProcess javaWithSignals(Class<?> main, String... arguments) throws IOException {
    return start(javaWithSignalsCommand(main, arguments));
  }

  /** The command that {@link #javaWithSignals} runs. */
  public static List<String> javaWithSignalsCommand(Class<?> main, String... arguments) {
    String blocked =
        SignalLaunch.SIGNALS
            .signals()
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(",", "--block-signal=", ""));
    var command =
        new ArrayList<>(List.of("env", "--default-signal=INT,QUIT", blocked, "_JAVA_SR_SIGNUM=64"));
    List<String> java = javaCommand(main, arguments);
    command.add(java.getFirst());
    command.addAll(List.of("-Xrs", "--add-opens=java.base/java.lang=ALL-UNNAMED"));
    command.addAll(java.subList(1, java.size()));
    return command;
  }

  /** The process id. */
  public int pid() {
    return (int) process.pid();
  }

  /** Waits for the next line. */
  public String line() throws InterruptedException {
    return next().orElseThrow(() -> failure("has ended"));
  }

  /** Waits for a line with a prefix and returns the rest of it, dropping the lines before. */
  public String line(String prefix) throws InterruptedException {
    String line = line();
    while (!line.startsWith(prefix)) {
      line = line();
    }
    return line.substring(prefix.length());
  }

  /** Waits until it has ended or closed its output; returns the lines printed until then. */
  public List<String> rest() throws InterruptedException {
    var rest = new ArrayList<String>();
    for (Optional<String> line = next(); line.isPresent(); line = next()) {
      rest.add(line.get());
    }
    return rest;
  }

  /** Writes a line to its standard input. */
  public void say(String line) throws IOException {
    input.write(line + "\n");
    input.flush();
  }

  /** Closes its standard input. */
  public void endInput() throws IOException {
    input.close();
  }

  /** Kills this process, but not its children. */
  public void kill() {
    process.toHandle().destroyForcibly();
  }

  /**
   * Waits until it has ended; returns its exit code, or 128 plus the number of the signal that
   * killed it.
   */
  public int exitCode() throws InterruptedException {
    if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw failure("does not end");
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    List<ProcessHandle> descendants = process.descendants().toList();
    process.destroyForcibly(); // first, so that it does not see them die and carry on
    descendants.forEach(ProcessHandle::destroyForcibly);
  }

  private Optional<String> next() throws InterruptedException {
    Optional<String> line = lines.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    if (line == null) {
      throw failure("says nothing more");
    }
    line.ifPresentOrElse(seen::add, () -> lines.add(Optional.empty()));
    return line;
  }

  private AssertionError failure(String what) {
    return new AssertionError(
        "%s %s; it said:%n%s".formatted(command, what, String.join("\n", seen)));
  }

  private void readLines() {
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      output.lines().map(Optional::of).forEach(lines::add);
    } catch (IOException | UncheckedIOException closed) {
      // Killed: the lines read until then count.
    } finally {
      lines.add(Optional.empty());
    }
  }
}
