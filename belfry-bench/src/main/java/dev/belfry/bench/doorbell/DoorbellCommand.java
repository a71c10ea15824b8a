package dev.belfry.bench.doorbell;

import static dev.belfry.bench.harness.Goal.Bound.AT_MOST;

import dev.belfry.bench.harness.Benchmark;
import dev.belfry.bench.harness.ComparisonTable;
import dev.belfry.bench.harness.ContenderProcesses;
import dev.belfry.bench.harness.Goal;
import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.bench.harness.Measurements;
import dev.belfry.bench.harness.Metric;
import dev.belfry.bench.harness.Pinning;
import dev.belfry.bench.harness.Progress;
import dev.belfry.bench.harness.Rounds;
import dev.belfry.bench.harness.RunOptions;
import dev.belfry.bench.harness.Summary;
import dev.belfry.bench.harness.Workshop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine.Command;

/** Measures the time from a ring until another process is awake. */
@Command(
    name = "doorbell",
    description = "From a ring to the wake-up of another process, one ring at a time.",
    mixinStandardHelpOptions = true)
public final class DoorbellCommand extends Benchmark {
  static final String LOOP = "belfry-loop";
  private static final String BELFRY = "belfry";
  private static final String EVENTFD = "eventfd-c";
  private static final String PIPE = "pipe-c";
  private static final String SOCKET = "socket-c";
  private static final List<String> NAMES = List.of(BELFRY, LOOP, EVENTFD, PIPE, SOCKET);

  private static final String MEDIAN = "latencyP50Nanos";
  private static final String P99 = "latencyP99Nanos";
  private static final ComparisonTable TABLE =
      new ComparisonTable(
          List.of(new Metric(MEDIAN, "p50 us", 1000, 1), new Metric(P99, "p99 us", 1000, 1)),
          List.of(EVENTFD, PIPE));
  private static final List<Goal> GOALS =
      List.of(
          new Goal(BELFRY, EVENTFD, MEDIAN, "p50", AT_MOST, 1.1),
          new Goal(BELFRY, PIPE, MEDIAN, "p50", AT_MOST, 1.1));

  /** The pause between two rings, long enough for the waiter to fall asleep. */
  private static final Duration PAUSE = Duration.ofNanos(200_000);

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Override
  protected Measurements measure(RunOptions options) throws Exception {
    List<String> names = options.select(NAMES);
    var measurements = new Measurements("doorbell");
    Map<String, Object> params = Map.of("workload", "paced");
    try (Workshop workshop = Workshop.open();
        var processes = new ContenderProcesses()) {
      Path pair = workshop.compileC(DoorbellCommand.class, "bell_pair.c");
      processes.startAll(names, name -> command(name, pair), Pinning.NONE);
      var rounds = new Rounds<>(names, Function.identity(), List.of(params), Function.identity());
      int warmUps = options.effort().choose(100, 20_000, 50_000);
      int count = options.effort().choose(50, 3_000, 10_000);
      try (var progress = new Progress(names.size() + rounds.steps(options.rounds()))) {
        for (String name : names) {
          progress.step("warming up " + name);
          processes.get(name).ask(warmUps + " 1", LIMIT);
        }
        rounds.run(
            options.rounds(),
            measurements,
            progress,
            (name, _) -> figures(processes.get(name).ask(count + " " + PAUSE.toNanos(), LIMIT)));
      }
    }
    print(TABLE.lines(measurements, names, params));
    printVerdicts(GOALS, measurements, params);
    printNotes(
        "Times are from before the ring to the first line after the wait, in the other process.");
    return measurements;
  }

  private static List<String> command(String name, Path pair) {
    return name.equals(BELFRY) || name.equals(LOOP)
        ? JavaCommand.of(JavaCommand.BELFRY, BellRinger.class, name)
        : List.of(pair.toString(), name.substring(0, name.length() - "-c".length()));
  }

  private static Map<String, Double> figures(String line) {
    long[] took = Stream.of(line.split(" ", -1)).mapToLong(Long::parseLong).toArray();
    return Map.of(
        MEDIAN, (double) Summary.percentile(took, 50), P99, (double) Summary.percentile(took, 99));
  }
}
