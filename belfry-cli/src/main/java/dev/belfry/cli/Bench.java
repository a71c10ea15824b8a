package dev.belfry.cli;

import dev.belfry.linux.SignalLaunch;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * {@code belfry bench}: runs the benchmarks in a separate JVM. They depend on the libraries that
 * Belfry is compared with, which do not belong in the program.
 */
@Command(
    name = "bench",
    description = "Measures Belfry against its peers; 'belfry bench --help' lists the benchmarks.")
final class Bench implements Callable<Integer> {
  @Parameters(paramLabel = "ARGUMENT", description = "What to measure, and how.")
  private List<String> arguments = List.of();

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path jar = benchmarks();
    if (!Files.exists(jar)) {
      throw new IOException(jar + " is missing; build it with 'mvn package'.");
    }
    return run(jar);
  }

  private int run(Path jar) throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--add-opens=java.base/java.lang=ALL-UNNAMED");
    command.add("-cp");
    command.add(jar + ":" + jar.resolveSibling("lib") + "/*");
    command.add("dev.belfry.bench.Main");
    command.addAll(arguments);
    var builder = new ProcessBuilder(command).inheritIO();
    SignalLaunch.cleanEnvironment(builder.environment());
    Process process = builder.start();
    // Ctrl+C reaches both processes, TERM only this one. The benchmarks must not outlive it.
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy, "belfry-bench-end"));
    return process.waitFor();
  }

  /** The benchmarks' jar, located relative to our own, belfry-cli/target/belfry.jar. */
  private static Path benchmarks() throws IOException {
    try {
      Path own = Path.of(Bench.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return own.resolve("../../../belfry-bench/target/belfry-bench.jar").normalize();
    } catch (URISyntaxException e) {
      throw new IOException("cannot tell where this program is", e);
    }
  }
}
