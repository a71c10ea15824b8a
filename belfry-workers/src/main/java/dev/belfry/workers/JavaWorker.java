package dev.belfry.workers;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command of a worker written in Java: the same JDK and class path as this process, so that a
 * worker class in the application's own jar needs no launcher.
 *
 * @param main the class whose main method calls {@link Worker#run}
 * @param flags flags of the JVM, such as {@code -Xmx256m}
 * @param arguments what the main method gets, before what the pool adds
 * @param crashDirectory where the JVM writes what it has to say about its crash
 */
public record JavaWorker(
    Class<?> main, List<String> flags, List<String> arguments, Path crashDirectory) {
  private static final String MODULE_PATH = "jdk.module.path";

  /** Copies the lists. */
  public JavaWorker {
    flags = List.copyOf(flags);
    arguments = List.copyOf(arguments);
  }

  /** A worker class with flags of the JVM. */
  public static JavaWorker of(Class<?> main, String... flags) {
    return new JavaWorker(
        main, List.of(flags), List.of(), Path.of(System.getProperty("java.io.tmpdir")));
  }

  List<String> command() {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:ErrorFile=" + crashDirectory.resolve("hs_err_pid%p.log"));
    command.add("-XX:+ExitOnOutOfMemoryError"); // a worker is cheap, and half of one is worse
    command.add("--enable-native-access=ALL-UNNAMED");
    addModulePath(command);
    command.addAll(flags);
    command.add(main.getName());
    command.addAll(arguments);
    return command;
  }

  /** All on the class path: a worker need not know which of its jars are modules. */
  private static void addModulePath(List<String> command) {
    String modules = System.getProperty(MODULE_PATH, "");
    String classes = System.getProperty("java.class.path", "");
    var path = new ArrayList<String>();
    for (String part : List.of(classes, modules)) {
      if (!part.isEmpty()) {
        path.add(part);
      }
    }
    command.add("-cp");
    command.add(String.join(":", path));
  }
}
