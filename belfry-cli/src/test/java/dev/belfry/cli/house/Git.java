package dev.belfry.cli.house;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Runs git in a directory. */
final class Git {
  private final Path directory;

  Git(Path directory) {
    this.directory = directory;
  }

  /** Returns what git prints; empty if there is no git, no repository or no commit. */
  Optional<String> ask(String... arguments) throws IOException {
    var command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(arguments));
    var builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    // If a git hook runs the build, these variables point to the hook's own index.
    builder.environment().keySet().removeIf(name -> name.startsWith("GIT_"));
    Process process;
    try {
      process = builder.start();
    } catch (IOException noGit) {
      return Optional.empty();
    }
    process.getOutputStream().close();
    try (InputStream output = process.getInputStream()) {
      String text = new String(output.readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? Optional.of(text) : Optional.empty();
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while git was running", e);
    }
  }
}
