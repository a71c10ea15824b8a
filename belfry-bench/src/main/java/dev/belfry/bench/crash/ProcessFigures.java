package dev.belfry.bench.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What the kernel reports about a process. */
final class ProcessFigures {
  private static final String RESIDENT = "VmRSS:";

  private ProcessFigures() {}

  /** Its resident memory; 0 if it is gone. */
  static long residentBytes(long pid) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
      return lines
          .filter(line -> line.startsWith(RESIDENT))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
          .findAny()
          .orElse(0);
    }
  }

  /** How many descriptors this process has open. */
  static long descriptors() throws IOException {
    try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
      return entries.count();
    }
  }
}
