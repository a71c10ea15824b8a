package dev.belfry.cli.config;

import dev.belfry.admin.Secret;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Where to read a token or a password. */
public sealed interface SecretSource {
  /**
   * Reads the secret.
   *
   * @throws IOException if it cannot be read
   * @throws IllegalArgumentException if it is empty or has more than one line
   */
  Secret read() throws IOException;

  /** Returns the secret's file if every user may read it. */
  Optional<Path> openFile() throws IOException;

  /**
   * In a file.
   *
   * @param path the file
   */
  record InFile(Path path) implements SecretSource {
    @Override
    public Secret read() throws IOException {
      if (Files.exists(path) && !Files.isRegularFile(path)) {
        throw new FileSystemException(
            path.toString(), null, "is not a regular file, and it is read more than once");
      }
      return Secret.fromFile(path);
    }

    @Override
    public Optional<Path> openFile() throws IOException {
      return Secret.mayEverybodyRead(path) ? Optional.of(path) : Optional.empty();
    }
  }

  /**
   * In the environment.
   *
   * @param variable the variable
   */
  record InEnvironment(String variable) implements SecretSource {
    @Override
    public Secret read() {
      return Secret.fromEnvironment(variable);
    }

    @Override
    public Optional<Path> openFile() {
      return Optional.empty();
    }
  }
}
