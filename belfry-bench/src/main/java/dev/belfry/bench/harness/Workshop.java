package dev.belfry.bench.harness;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A temporary directory for programs compiled on the spot; closing deletes it. */
public final class Workshop implements AutoCloseable {
  private final Path directory;

  private Workshop(Path directory) {
    this.directory = directory;
  }

  /** Opens a new one. */
  public static Workshop open() throws IOException {
    return new Workshop(Files.createTempDirectory("belfry-bench"));
  }

  /**
   * Compiles a C program with {@code gcc -O2}.
   *
   * @param near the class beside which the source is a resource
   * @param source the file, such as {@code echo_server.c}
   * @return the executable
   */
  public Path compileC(Class<?> near, String source) throws IOException, InterruptedException {
    Path file = directory.resolve(source);
    try (InputStream resource = near.getResourceAsStream(source)) {
      if (resource == null) {
        throw new IOException("the resource " + source + " is missing beside " + near);
      }
      Files.copy(resource, file);
    }
    Path program = directory.resolve(source.replaceFirst("\\.c$", ""));
    List<String> command =
        List.of(
            "gcc",
            "-O2",
            "-Wall",
            "-Werror",
            "-pthread",
            "-o",
            program.toString(),
            file.toString());
    Process gcc;
    try {
      gcc = new ProcessBuilder(command).inheritIO().start();
    } catch (IOException e) {
      throw new IOException("the benchmarks compile C programs: install gcc", e);
    }
    if (gcc.waitFor() != 0) {
      throw new IOException("gcc failed: " + String.join(" ", command));
    }
    return program;
  }

  @Override
  public void close() throws IOException {
    delete(directory);
  }

  /** Deletes a directory and everything in it. */
  public static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
