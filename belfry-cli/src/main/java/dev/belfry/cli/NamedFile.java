package dev.belfry.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Reads a file named by the user, which may be anything, such as an endless device or a pipe. */
public final class NamedFile {
  /** How long to wait for a writer of a pipe; without one, opening the pipe blocks. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private NamedFile() {}

  /**
   * Reads a file up to a limit.
   *
   * @throws IOException if the file cannot be read, or is a pipe and no writer opens it in time
   */
  public static byte[] read(Path file, int most) throws IOException {
    try (InputStream in = open(file)) {
      return in.readNBytes(most);
    }
  }

  private static InputStream open(Path file) throws IOException {
    return Files.isRegularFile(file) ? Files.newInputStream(file) : openInTime(file);
  }

  /** Opens on another thread, which cannot be interrupted and stays behind if no writer comes. */
  private static InputStream openInTime(Path file) throws IOException {
    var opened = new CompletableFuture<InputStream>();
    Thread.ofPlatform().daemon().name("belfry-open").start(() -> open(file, opened));
    try {
      return opened.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      opened.cancel(false);
      throw new IOException(file + " is a pipe to which nobody writes", e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while opening " + file, e);
    }
  }

  private static void open(Path file, CompletableFuture<InputStream> opened) {
    try {
      InputStream in = Files.newInputStream(file);
      if (!opened.complete(in)) { // too late
        in.close();
      }
    } catch (IOException | RuntimeException e) {
      opened.completeExceptionally(e);
    }
  }
}
