package dev.belfry.cli.config;

import java.util.List;

/** The program that runs in a worker process. */
public sealed interface WorkerProgram {
  /**
   * Any program.
   *
   * @param words the program and its arguments
   */
  record Command(List<String> words) implements WorkerProgram {
    public Command {
      words = List.copyOf(words);
    }
  }

  /**
   * A Java class, on the JDK of this process.
   *
   * @param main its name
   * @param classPath where to find it; searched before the classes of this program
   * @param options for the JVM
   * @param arguments for the main method
   */
  record Java(String main, List<String> classPath, List<String> options, List<String> arguments)
      implements WorkerProgram {
    public Java {
      classPath = List.copyOf(classPath);
      options = List.copyOf(options);
      arguments = List.copyOf(arguments);
    }
  }

  /** The demo worker that comes with this program. */
  record Demo() implements WorkerProgram {}
}
