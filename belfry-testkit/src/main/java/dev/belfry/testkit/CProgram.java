package dev.belfry.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Programs in C, compiled by the machine's gcc, which the tests require. */
public final class CProgram {
  private CProgram() {}

  /**
   * Compiles a program. Where there is no gcc, or the program is wrong, this fails.
   *
   * @param directory gets the source and the program
   * @param name of the program
   * @param source in C, with {@code _GNU_SOURCE} defined
   * @return the program
   */
  public static Path compile(Path directory, String name, String source)
      throws IOException, InterruptedException {
    Path file = Files.writeString(directory.resolve(name + ".c"), source);
    Path program = directory.resolve(name);
    Process gcc = start(file, program);
    String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (gcc.waitFor() != 0) {
      throw new AssertionError("gcc does not like " + file + ":\n" + said);
    }
    return program;
  }

  /**
   * Compiles a program whose source lies beside a class.
   *
   * @param directory gets a copy of the source and the program
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

  private static Process start(Path file, Path program) {
    try {
      return new ProcessBuilder(
              "gcc",
              "-std=gnu11",
              "-D_GNU_SOURCE",
              "-Wall",
              "-Werror",
              "-pthread",
              "-o",
              program.toString(),
              file.toString())
          .redirectErrorStream(true)
          .start();
    } catch (IOException e) {
      throw new AssertionError(
          "these tests need gcc and the headers of the C library: install the package gcc", e);
    }
  }
}
