package dev.belfry.bench.files;

import dev.belfry.bench.harness.Benchmark;
import dev.belfry.bench.harness.ComparisonTable;
import dev.belfry.bench.harness.ContenderProcesses;
import dev.belfry.bench.harness.Measurements;
import dev.belfry.bench.harness.Metric;
import dev.belfry.bench.harness.Pinning;
import dev.belfry.bench.harness.Progress;
import dev.belfry.bench.harness.Rounds;
import dev.belfry.bench.harness.RunOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import picocli.CommandLine.Command;

/** Measures random reads of a file. */
@Command(
    name = "files",
    description = {
      "Random reads of 4 KiB from a file of 64 MiB in the working directory: from the page cache,"
          + " and from the disk with O_DIRECT.",
      "Every contender is a warm JVM of its own."
    },
    mixinStandardHelpOptions = true)
public final class FilesCommand extends Benchmark {
  private static final String RATE = "readsPerSecond";
  private static final String CPU = "cpuNanosPerRead";
  private static final int FILE_BYTES = 64 << 20;
  private static final List<String> CACHES = List.of("cached", "direct");
  private static final Duration GRACE = Duration.ofSeconds(60);

  private static final ComparisonTable TABLE =
      new ComparisonTable(
          List.of(new Metric(RATE, "reads/s", 1, 0), new Metric(CPU, "CPU us/read", 1000, 2)),
          List.of(FileContender.FILE_CHANNEL.label));

  @Override
  protected Measurements measure(RunOptions options) throws Exception {
    List<String> names = options.select(FileContender.labels());
    var measurements = new Measurements("files");
    Path file = Files.createTempFile(Path.of("").toAbsolutePath(), "belfry-bench", ".dat");
    try (var processes = new ContenderProcesses()) {
      byte[] content = new byte[FILE_BYTES];
      new Random(1).nextBytes(content);
      Files.write(file, content);
      processes.startAll(
          names,
          name -> FileContender.of(name).command(file.toString()),
          pinning(options, Pinning.LAST));
      run(options, names, processes, measurements);
    } finally {
      Files.delete(file);
    }
    for (String cache : CACHES) {
      print(TABLE.lines(measurements, names, params(cache)));
    }
    printNotes(
        "CPU is user and system time of the whole process, the kernel's threads for it included.");
    return measurements;
  }

  private static void run(
      RunOptions options,
      List<String> names,
      ContenderProcesses processes,
      Measurements measurements)
      throws IOException {
    Duration measured = options.measuredMillis(100, 700, 1500);
    var rounds = new Rounds<>(names, Function.identity(), CACHES, FilesCommand::params);
    try (var progress = new Progress(names.size() + rounds.steps(options.rounds()))) {
      for (String name : names) {
        progress.step("warming up " + name);
        for (String cache : CACHES) {
          ask(processes, name, cache, measured.multipliedBy(2));
        }
      }
      rounds.run(
          options.rounds(),
          measurements,
          progress,
          (name, cache) -> ask(processes, name, cache, measured));
    }
  }

  private static Map<String, Double> ask(
      ContenderProcesses processes, String name, String cache, Duration measured)
      throws IOException {
    String question = cache + " " + measured.toNanos();
    String[] answer = processes.get(name).ask(question, measured.plus(GRACE)).split(" ", 2);
    return Map.of(RATE, Double.valueOf(answer[0]), CPU, Double.valueOf(answer[1]));
  }

  private static Map<String, Object> params(String cache) {
    return Map.of("cache", cache);
  }
}
