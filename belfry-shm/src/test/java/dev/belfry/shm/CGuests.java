package dev.belfry.shm;

import dev.belfry.testkit.CProgram;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The C guests, compiled from the single header with strict warnings. */
final class CGuests {
  private static final List<String> STRICT =
      List.of("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-O2");

  private final Path directory;
  private final List<String> options;

  /**
   * Sets up the compiler.
   *
   * @param directory receives the programs
   * @param more gcc options besides the usual ones
   */
  CGuests(Path directory, String... more) {
    this.directory = directory;
    this.options = new ArrayList<>(STRICT);
    options.addAll(List.of(more));
  }

  /** The directory of the header. */
  static Path home() {
    Path root = Path.of(System.getProperty("belfry.root", ".."));
    return root.resolve("guests/c");
  }

  /** The echo program from the distribution. */
  List<String> echo() throws IOException, InterruptedException {
    return compile("echo", home().resolve("echo.c"));
  }

  /** The program from the README. */
  List<String> readme() throws IOException, InterruptedException {
    String text = Files.readString(home().resolve("README.md"));
    int begin = text.indexOf("```c\n") + "```c\n".length();
    Path source = directory.resolve("readme.c");
    Files.writeString(source, text.substring(begin, text.indexOf("```\n", begin)));
    return compile("readme", source);
  }

  /** The guest that takes the steps of {@link SteppingGuest}. */
  List<String> stepping() throws IOException, InterruptedException {
    return compileResource("stepping_guest");
  }

  /** The guest that leaves while it receives. */
  List<String> leaving() throws IOException, InterruptedException {
    return compileResource("leaving_guest");
  }

  /** The guest that says whether it yields while it waits. */
  List<String> yielding() throws IOException, InterruptedException {
    return compileResource("yielding_guest");
  }

  private List<String> compileResource(String name) throws IOException, InterruptedException {
    Path source = directory.resolve(name + ".c");
    try (InputStream text = CGuests.class.getResourceAsStream(name + ".c")) {
      Files.write(source, Objects.requireNonNull(text).readAllBytes());
    }
    return compile(name, source);
  }

  private List<String> compile(String name, Path source) throws IOException, InterruptedException {
    var all = new ArrayList<>(options);
    all.add("-I" + home());
    return List.of(CProgram.compile(directory.resolve(name), source, all).toString());
  }
}
