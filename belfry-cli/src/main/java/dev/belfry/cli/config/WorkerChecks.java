package dev.belfry.cli.config;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Checks whether workers can be started as configured. */
final class WorkerChecks {
  /** The path that the C library searches if PATH is not set. */
  private static final String DEFAULT_PATH = "/bin:/usr/bin";

  private final BiConsumer<String, String> fault;

  /** Creates checks that report the field and the reason of each fault to {@code fault}. */
  WorkerChecks(BiConsumer<String, String> fault) {
    this.fault = fault;
  }

  void check(WorkersConfig workers) {
    WorkersConfig.Restart restart = workers.restart();
    if (restart.longestDelay().compareTo(restart.firstDelay()) < 0) {
      fault.accept("workers.restart.longest_delay", "is shorter than first_delay");
    }
    workers
        .directory()
        .filter(it -> !Files.isDirectory(it))
        .ifPresent(it -> fault.accept("workers.directory", "there is no directory " + it));
    switch (workers.program()) {
      case WorkerProgram.Command(List<String> words) -> program(words.getFirst(), workers);
      case WorkerProgram.Java java -> classPath(java.classPath());
      case WorkerProgram.Demo _ -> {}
    }
    WorkersConfig.Limits limits = workers.limits();
    limits.openFiles().ifPresent(it -> limit("open_files", "ulimit -n " + it));
    limits.memoryMib().ifPresent(it -> limit("memory_mib", "ulimit -d " + it * 1024));
  }

  private void program(String program, WorkersConfig workers) {
    if (program.contains("/")) {
      if (!isProgram("", program)) {
        fault.accept("workers.command[0]", "there is no program " + program + " that may be run");
      }
      return;
    }
    for (String directory : path(workers).split(":", -1)) {
      if (isProgram(directory, program)) {
        return;
      }
    }
    fault.accept("workers.command[0]", "there is no program " + program + " on the PATH");
  }

  /** A shell, which sets limits, searches the workers' PATH; the C library searches ours. */
  private static String path(WorkersConfig workers) {
    WorkersConfig.Limits limits = workers.limits();
    boolean byShell = limits.openFiles().isPresent() || limits.memoryMib().isPresent();
    @Nullable String theirs = byShell ? workers.environment().get("PATH") : null;
    @Nullable String path = theirs != null ? theirs : System.getenv("PATH");
    return path != null ? path : DEFAULT_PATH;
  }

  private static boolean isProgram(String directory, String name) {
    try {
      Path file = Path.of(directory, name);
      return Files.isRegularFile(file) && Files.isExecutable(file);
    } catch (InvalidPathException e) {
      return false;
    }
  }

  private void classPath(List<String> parts) {
    for (int i = 0; i < parts.size(); i++) {
      Path part = Path.of(parts.get(i));
      if (!parts.get(i).endsWith("*") && !Files.isReadable(part)) {
        fault.accept(
            "workers.java.class_path[" + i + "]", "there is no file " + part + " that can be read");
      }
    }
  }

  /** Asks a shell, which also sets the workers' limit: privileges decide about hard limits. */
  private void limit(String field, String command) {
    try {
      Process shell =
          new ProcessBuilder("/bin/sh", "-c", command)
              .redirectOutput(Redirect.DISCARD)
              .redirectError(Redirect.DISCARD)
              .start();
      if (shell.waitFor() != 0) {
        fault.accept(
            "workers.limits." + field,
            "is more than this process may have: '" + command + "' is refused");
      }
    } catch (IOException e) {
      fault.accept("workers.limits." + field, "there is no shell to set it: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
