package dev.belfry.workers;

import java.io.File;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command of a worker written in Java. It uses the JDK and the class path of this process, so a
 * worker class in the application's own jar needs no launcher. Each {@code with} method returns a
 * copy with one thing changed.
 *
 * @param main the name of the class whose main method calls {@link Worker#run}
 * @param classPath jars and directories that precede the class path of this process
 * @param flags JVM flags, such as {@code -Xmx256m}
 * @param arguments the first arguments of the main method; the pool adds its own
 * @param crashDirectory where the JVM writes its crash file; the directory for temporary files by
 *     default
 */
public record JavaWorker(
    String main,
    List<String> classPath,
    List<String> flags,
    List<String> arguments,
    Path crashDirectory) {
  /** Copies the lists. */
  public JavaWorker {
    classPath = List.copyOf(classPath);
    flags = List.copyOf(flags);
    arguments = List.copyOf(arguments);
  }

  /** A worker class, with JVM flags. */
  public static JavaWorker of(Class<?> main, String... flags) {
    return of(main.getName()).withFlags(List.of(flags));
  }

  /** A worker class, which need not be on the class path of this process. */
  public static JavaWorker of(String main) {
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    return new JavaWorker(main, List.of(), List.of(), List.of(), temporary);
  }

  /** A copy with other jars and directories before the class path of this process. */
  public JavaWorker withClassPath(List<String> classPath) {
    return new JavaWorker(main, classPath, flags, arguments, crashDirectory);
  }

  /** A copy with other JVM flags. */
  public JavaWorker withFlags(List<String> flags) {
    return new JavaWorker(main, classPath, flags, arguments, crashDirectory);
  }

  /** A copy with other arguments of the main method. */
  public JavaWorker withArguments(List<String> arguments) {
    return new JavaWorker(main, classPath, flags, arguments, crashDirectory);
  }

  /** A copy with another directory for the JVM's crash file. */
  public JavaWorker withCrashDirectory(Path crashDirectory) {
    return new JavaWorker(main, classPath, flags, arguments, crashDirectory);
  }

  /** The whole command, for callers that wrap it in another. */
  public List<String> command() {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:ErrorFile=" + crashDirectory.toAbsolutePath().resolve("hs_err_pid%p.log"));
    command.add("-XX:+ExitOnOutOfMemoryError"); // better a new worker than a crippled one
    command.add("-XX:+DisplayVMOutputToStderr"); // where the pool looks for last words
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-cp");
    command.add(wholeClassPath());
    command.addAll(flags);
    command.add(main);
    command.addAll(arguments);
    return command;
  }

  /**
   * Everything goes on the class path, because a worker need not know which of its jars are
   * modules. Paths are absolute, because a worker may run in another directory.
   */
  private String wholeClassPath() {
    Stream<Path> added = classPath.stream().flatMap(JavaWorker::parts);
    Stream<Path> ours = parts(System.getProperty("java.class.path", ""));
    Stream<Path> modules =
        parts(System.getProperty("jdk.module.path", "")).flatMap(JavaWorker::modulesAt);
    return Stream.of(added, ours, modules)
        .flatMap(paths -> paths)
        .map(path -> path.toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static Stream<Path> parts(String path) {
    return path.isEmpty()
        ? Stream.empty()
        : Arrays.stream(path.split(File.pathSeparator, -1)).map(Path::of);
  }

  /** An element of a module path is a module or a directory of modules. */
  private static Stream<Path> modulesAt(Path part) {
    return ModuleFinder.of(part).findAll().stream()
        .flatMap(module -> module.location().stream())
        .map(Path::of)
        .sorted();
  }
}
