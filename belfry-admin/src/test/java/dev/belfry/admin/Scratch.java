package dev.belfry.admin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Directories for files that outlive a single test. They are deleted when the JVM ends. */
final class Scratch {
  private static @Nullable Path root;

  private Scratch() {}

  /** Creates a directory that only its owner can access. */
  static synchronized Path newDirectory(String name) throws IOException {
    Path directory = root;
    if (directory == null) {
      Path made = Files.createTempDirectory("belfry-admin");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(made)));
      root = made;
      directory = made;
    }
    return Files.createTempDirectory(directory, name);
  }

  private static void delete(Path tree) {
    try (Stream<Path> walk = Files.walk(tree)) {
      List<Path> innermostFirst = walk.sorted(Comparator.reverseOrder()).toList();
      for (Path path : innermostFirst) {
        Files.delete(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
