package dev.belfry.workers;

import dev.belfry.testkit.CProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** C programs that include the worker, compiled as strictly as users might. */
final class CWorkers {
  private static final Path HOME =
      Path.of(System.getProperty("belfry.root", "..")).resolve("guests/c");

  /** Detects invalid accesses and undefined behaviour. */
  static final String[] SANITIZED = {"-fsanitize=address,undefined", "-fno-sanitize-recover=all"};

  private CWorkers() {}

  /** The example worker that ships to users; it starts almost instantly. */
  static Path example(Path directory, String... more) throws IOException, InterruptedException {
    return compile(directory.resolve("worker"), HOME.resolve("worker.c"), more);
  }

  static Path compile(Path program, Path source, String... more)
      throws IOException, InterruptedException {
    var options =
        new ArrayList<>(
            List.of(
                "-std=c11",
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Wshadow",
                "-Werror",
                "-O2",
                "-I" + HOME));
    options.addAll(List.of(more));
    return CProgram.compile(program, source, options);
  }
}
