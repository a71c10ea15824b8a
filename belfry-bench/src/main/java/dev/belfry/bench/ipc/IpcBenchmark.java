package dev.belfry.bench.ipc;

import dev.belfry.bench.harness.Benchmark;
import dev.belfry.bench.harness.ComparisonTable;
import dev.belfry.bench.harness.Goal;
import dev.belfry.bench.harness.Measurements;
import dev.belfry.bench.harness.Metric;
import dev.belfry.bench.harness.Progress;
import dev.belfry.bench.harness.Rounds;
import dev.belfry.bench.harness.RunOptions;
import dev.belfry.bench.harness.Workshop;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The common part of the two benchmarks of messages between processes. */
abstract class IpcBenchmark extends Benchmark {
  private final String name;
  private final String passive;
  private final String active;
  private final Metric metric;
  private final List<String> references;

  IpcBenchmark(
      String name, String passive, String active, Metric metric, List<IpcContender> references) {
    this.name = name;
    this.passive = passive;
    this.active = active;
    this.metric = metric;
    this.references = references.stream().map(contender -> contender.label).toList();
  }

  abstract boolean takesPart(IpcContender contender);

  /** The goals for messages of a size. */
  abstract List<Goal> goals(int bytes);

  @Override
  protected final Measurements measure(RunOptions options) throws Exception {
    List<IpcContender> contenders =
        options.select(IpcContender.labels()).stream()
            .map(IpcContender::of)
            .filter(this::takesPart)
            .toList();
    List<Integer> sizes =
        options
            .effort()
            .choose(
                List.of(32),
                List.of(32, 64, 128),
                List.of(16, 32, 64, 128, 256, 1024, 4096, 16384, 65000));
    double seconds = options.measuredMillis(50, 300, 500).toNanos() / 1e9;
    // Long enough for the compiler, however short the measurement.
    double warmSeconds = options.effort().choose(0.1, 1.2, 2.0);
    var measurements = new Measurements(name);
    try (Workshop workshop = Workshop.open()) {
      Path ring = workshop.compileC(IpcBenchmark.class, "ipc_ring.c");
      var rounds =
          new Rounds<>(contenders, contender -> contender.label, sizes, IpcBenchmark::params);
      try (var progress = new Progress(rounds.steps(options.rounds()))) {
        rounds.run(
            options.rounds(),
            measurements,
            progress,
            (contender, bytes) ->
                Map.of(
                    metric.name(),
                    IpcPair.measure(
                        contender, ring, passive, active, bytes, warmSeconds, seconds)));
      }
    }
    report(sizes, measurements);
    return measurements;
  }

  private static Map<String, Object> params(int bytes) {
    return Map.of("messageBytes", bytes);
  }

  private void report(List<Integer> sizes, Measurements measurements) {
    var table = new ComparisonTable(List.of(metric), references);
    for (int bytes : sizes) {
      print(table.lines(measurements, IpcContender.labels(), params(bytes)));
      printVerdicts(goals(bytes), measurements, params(bytes));
    }
    print(
        List.of(
            "Two fresh processes each time, on a processor each; up to 96 bytes (v1: 32) travel in",
            "the descriptor, up to 1152 in a pocket (v1: in a slot). Medians of the rounds; a ratio",
            "is the median of the ratios within each round."));
  }
}
