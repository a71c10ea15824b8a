package dev.belfry.cli.shm;

import dev.belfry.cli.hosts.NoSuchHost;
import dev.belfry.cli.hosts.RunDirectory;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Finds a segment: a file, or the anonymous memory of a running host, which can only be found among
 * the host's descriptors.
 */
final class HostSegment {
  private static final String MEMORY = "/memfd:belfry-segment";

  private HostSegment() {}

  /**
   * Returns a segment's path. A running host takes precedence over a file of the same name, which
   * {@code ./NAME} still names: both a host and the launcher are called belfry by default.
   *
   * @param which a path, or the process id or name of a host; null for the only host there is
   */
  static Path find(@Nullable String which) throws IOException {
    if (which != null && which.contains("/")) {
      return Path.of(which);
    }
    try {
      return ofProcess(RunDirectory.ofUser().find(which).pid());
    } catch (NoSuchHost e) {
      if (which == null) {
        throw e;
      }
      if (Files.exists(Path.of(which))) {
        return Path.of(which);
      }
      throw new IOException(which + " is not a file, and " + e.getMessage(), e);
    }
  }

  private static Path ofProcess(long pid) throws IOException {
    Path descriptors = Path.of("/proc", Long.toString(pid), "fd");
    try (DirectoryStream<Path> all = Files.newDirectoryStream(descriptors)) {
      for (Path descriptor : all) {
        if (isSegment(descriptor)) {
          return descriptor;
        }
      }
    }
    throw new IOException("the host with pid %d has no segment".formatted(pid));
  }

  private static boolean isSegment(Path descriptor) throws IOException {
    try {
      return Files.readSymbolicLink(descriptor).toString().startsWith(MEMORY);
    } catch (NoSuchFileException closed) {
      return false; // closed meanwhile
    }
  }
}
