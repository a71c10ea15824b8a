package dev.belfry.bench.harness;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A process that takes part in a benchmark. Its first line is {@code READY}, with optional details.
 * It may answer each line of input with one line of output. It ends when its input does, so that
 * none is left behind. Its standard error is shown.
 */
public final class ContenderProcess implements AutoCloseable {
  private static final String READY = "READY";
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration END_LIMIT = Duration.ofSeconds(5);

  private final String name;
  private final Process process;
  private final BufferedReader output;
  private final BufferedWriter input;

  private ContenderProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    this.output = process.inputReader();
    this.input = process.outputWriter();
  }

  /** Starts a process; {@link #awaitReady} waits until it is up. */
  public static ContenderProcess start(String name, List<String> command, Pinning pinning)
      throws IOException {
    var builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
    return new ContenderProcess(name, pinning.start(builder));
  }

  /** The process id. */
  public long pid() {
    return process.pid();
  }

  /** Waits until it is ready; returns the details that it gave. */
  public String awaitReady() throws IOException {
    String line = readLine(START_LIMIT);
    if (!line.startsWith(READY)) {
      throw new IOException(name + " should have said READY, not: " + line);
    }
    return line.substring(READY.length()).strip();
  }

  /** Sends a line and waits for the answer; kills the process if that takes too long. */
  public String ask(String line, Duration limit) throws IOException {
    input.write(line);
    input.newLine();
    input.flush();
    return readLine(limit);
  }

  /** Waits for a line; kills the process if that takes too long. */
  public String readLine(Duration limit) throws IOException {
    CompletableFuture<Void> tooLate =
        CompletableFuture.runAsync(
            process::destroyForcibly,
            CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS));
    String line = output.readLine();
    boolean inTime = tooLate.cancel(false);
    if (line == null) {
      throw new IOException(
          inTime
              ? name + " has ended without an answer; see what it said above"
              : name + " did not answer within " + limit);
    }
    return line;
  }

  @Override
  public void close() {
    try {
      input.close();
    } catch (IOException gone) {
      // It has ended already.
    }
    try {
      if (!process.waitFor(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
