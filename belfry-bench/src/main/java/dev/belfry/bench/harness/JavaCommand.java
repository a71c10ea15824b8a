package dev.belfry.bench.harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Command lines for JVMs like this one: same JDK, same class path. */
public final class JavaCommand {
  /** Common to all, so that no contender has a smaller heap than another. */
  private static final List<String> COMMON =
      List.of(
          "-Xms1g",
          "-Xmx1g",
          "--enable-native-access=ALL-UNNAMED",
          "-Dslf4j.internal.verbosity=ERROR"); // no notice that SLF4J has no provider

  /** Flags that Belfry's coroutines need to run on the loop thread. */
  public static final List<String> BELFRY = List.of("--add-opens=java.base/java.lang=ALL-UNNAMED");

  /** Flags that Netty needs for its fast paths on this JDK, and those that turn off its checks. */
  public static final List<String> NETTY =
      List.of(
          "--sun-misc-unsafe-memory-access=allow",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
          "-Dio.netty.tryReflectionSetAccessible=true",
          "-Dio.netty.leakDetection.level=disabled",
          "-Dio.netty.buffer.checkAccessible=false",
          "-Dio.netty.buffer.checkBounds=false");

  private JavaCommand() {}

  /** The command that runs a main class with JVM flags and arguments. */
  public static List<String> of(List<String> flags, Class<?> main, String... arguments) {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(COMMON);
    command.addAll(flags);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return command;
  }
}
