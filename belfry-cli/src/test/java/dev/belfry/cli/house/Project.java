package dev.belfry.cli.house;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The files of a project.
 *
 * @param root the directory with the pom that lists the modules
 */
record Project(Path root) {
  private static final Set<String> NOT_SOURCES = Set.of(".git", "target");
  private static final int LOOKED_AT_FOR_NUL = 8000;

  /** Returns the project that these tests belong to. */
  static Project current() throws IOException {
    Path start =
        Path.of(System.getProperty("belfry.root", System.getProperty("user.dir", ""))).toRealPath();
    for (Path dir = start; dir != null; dir = dir.getParent()) {
      Path pom = dir.resolve("pom.xml");
      if (Files.exists(pom) && Files.readString(pom).contains("<modules>")) {
        return new Project(dir);
      }
    }
    throw new IOException("no pom.xml with <modules> in " + start + " or above");
  }

  /** Returns the directories of the modules, whether listed in the pom or not. */
  List<Path> modules() throws IOException {
    try (Stream<Path> entries = Files.list(root)) {
      return entries.filter(dir -> Files.exists(dir.resolve("pom.xml"))).sorted().toList();
    }
  }

  /**
   * Returns the text files that are tracked, or would be after {@code git add}; without git, all
   * files that were not built.
   *
   * @return paths relative to the root, sorted
   */
  List<Path> textFiles() throws IOException {
    Optional<String> listed =
        new Git(root).ask("ls-files", "-z", "--cached", "--others", "--exclude-standard");
    List<Path> files = listed.isPresent() ? split(listed.get()) : List.of();
    if (files.isEmpty()) { // as in an archive unpacked in a repository that ignores it
      files = walk();
    }
    var text = new ArrayList<Path>();
    for (Path file : files) {
      if (Files.isRegularFile(root.resolve(file), LinkOption.NOFOLLOW_LINKS) && !isBinary(file)) {
        text.add(file);
      }
    }
    return text.stream().distinct().sorted().toList();
  }

  private static List<Path> split(String names) {
    return Stream.of(names.split("\0", -1)).filter(n -> !n.isEmpty()).map(Path::of).toList();
  }

  private List<Path> walk() throws IOException {
    var files = new ArrayList<Path>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
            return !dir.equals(root) && NOT_SOURCES.contains(String.valueOf(dir.getFileName()))
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            files.add(root.relativize(file));
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }

  /** Decides as git does: by a NUL near the beginning. */
  private boolean isBinary(Path file) throws IOException {
    try (var input = Files.newInputStream(root.resolve(file))) {
      for (byte b : input.readNBytes(LOOKED_AT_FOR_NUL)) {
        if (b == 0) {
          return true;
        }
      }
      return false;
    }
  }

  /** Returns the text of a file; malformed UTF-8 is replaced. */
  String text(String file) throws IOException {
    return new String(Files.readAllBytes(root.resolve(file)), StandardCharsets.UTF_8);
  }

  /** Returns the lines of a file; none if it does not exist. */
  List<String> lines(String file) throws IOException {
    return Files.exists(root.resolve(file)) ? text(file).lines().toList() : List.of();
  }
}
