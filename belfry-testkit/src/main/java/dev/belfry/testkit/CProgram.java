package dev.belfry.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Compiles C programs with the machine's gcc, which the tests require. */
public final class CProgram {
  private CProgram() {}

  /**
   * Compiles a program. Fails if there is no gcc, or if the source does not compile.
   *
   * @param directory where the source and the program go
   * @param name of the program
   * @param source in C, with {@code _GNU_SOURCE} defined
   * @return the program
   */
  public static Path compile(Path directory, String name, String source)
      throws IOException, InterruptedException {
    Path file = Files.writeString(directory.resolve(name + ".c"), source);
    return compile(
        directory.resolve(name), file, List.of("-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Werror"));
  }

  /**
   * Compiles a program from a source file.
   *
   * @param program the program to create
   * @param file the source
   * @param options of gcc
   * @return the program
   */
  public static Path compile(Path program, Path file, List<String> options)
      throws IOException, InterruptedException {
    Process gcc = start(program, file, options);
    String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (gcc.waitFor() != 0) {
      throw new AssertionError("gcc does not like " + file + ":\n" + said);
    }
    return program;
  }

  /**
   * Compiles a program whose source is a resource beside a class.
   *
   * @param directory where a copy of the source and the program go
   * @param beside the class
   * @param name of the program, and with {@code .c} of its source
   */
  public static Path compile(Path directory, Class<?> beside, String name)
      throws IOException, InterruptedException {
    try (InputStream source = beside.getResourceAsStream(name + ".c")) {
      if (source == null) {
        throw new IllegalArgumentException("no " + name + ".c beside " + beside);
      }
      return compile(directory, name, new String(source.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  private static Process start(Path program, Path file, List<String> options) {
    var command = new ArrayList<>(List.of("gcc", "-pthread", "-o", program.toString()));
    command.addAll(options);
    command.add(file.toString());
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      throw new AssertionError(
          "these tests need gcc and the headers of the C library: install the package gcc", e);
    }
  }
}
