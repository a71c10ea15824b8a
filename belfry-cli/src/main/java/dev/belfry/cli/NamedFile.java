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

/** A file that somebody has named, which may be anything: a device without an end, a pipe. */
public final class NamedFile {
  /** For somebody to begin to write to a pipe; until then it cannot even be opened. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private NamedFile() {}

  /**
   * What is in it, up to a limit.
   *
   * @throws IOException if it cannot be read, also because it is a pipe to which nobody writes
   */
  public static byte[] read(Path file, int most) throws IOException {
    try (InputStream in = open(file)) {
      return in.readNBytes(most);
    }
  }

  private static InputStream open(Path file) throws IOException {
    return Files.isRegularFile(file) ? Files.newInputStream(file) : openInTime(file);
  }

  /** The thread that opens it cannot be woken up, and is left behind if nobody comes. */
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
