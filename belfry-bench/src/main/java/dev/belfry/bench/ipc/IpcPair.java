package dev.belfry.bench.ipc;

import dev.belfry.bench.harness.ContenderProcess;
import dev.belfry.bench.harness.Pinning;
import dev.belfry.bench.harness.Workshop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Starts two fresh processes of a contender, warms them up and measures once. */
final class IpcPair {
  private static final Path IN_MEMORY = Path.of("/dev/shm");
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private IpcPair() {}

  /**
   * Measures.
   *
   * @param ring the C program
   * @param passive the role of the process that answers, {@code echo} or {@code sink}
   * @param active the role of the process that measures
   */
  static double measure(
      IpcContender contender,
      Path ring,
      String passive,
      String active,
      int length,
      double warmSeconds,
      double seconds)
      throws IOException {
    Path directory = newDirectory();
    try {
      List<String> answering = contender.command(ring, passive, directory, length);
      // Each on its own processor: two processes that spin on one processor would measure the
      // scheduler. A JVM pins only its main thread, so that its compiler can still run.
      try (ContenderProcess other =
          ContenderProcess.start(
              contender.label, answering, contender.isC() ? Pinning.LAST : Pinning.NONE)) {
        other.awaitReady();
        List<String> measuring = contender.command(ring, active, directory, length);
        try (ContenderProcess process =
            ContenderProcess.start(
                contender.label, measuring, contender.isC() ? Pinning.FIRST : Pinning.NONE)) {
          process.awaitReady();
          process.ask(String.valueOf(warmSeconds), LIMIT);
          return Double.parseDouble(process.ask(String.valueOf(seconds), LIMIT));
        }
      }
    } finally {
      Workshop.delete(directory);
    }
  }

  /** A directory for a contender's files; in memory if possible. */
  static Path newDirectory() throws IOException {
    Path base = Files.isDirectory(IN_MEMORY) ? IN_MEMORY : Path.of("/tmp");
    return Files.createTempDirectory(base, "belfry-ipc");
  }
}
