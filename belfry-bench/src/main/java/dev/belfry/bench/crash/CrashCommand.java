package dev.belfry.bench.crash;

import dev.belfry.bench.harness.Benchmark;
import dev.belfry.bench.harness.Ceiling;
import dev.belfry.bench.harness.ComparisonTable;
import dev.belfry.bench.harness.ContenderProcess;
import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.bench.harness.Measurements;
import dev.belfry.bench.harness.Metric;
import dev.belfry.bench.harness.Pinning;
import dev.belfry.bench.harness.Placement;
import dev.belfry.bench.harness.Progress;
import dev.belfry.bench.harness.RunOptions;
import dev.belfry.bench.harness.Sample;
import dev.belfry.bench.harness.Summary;
import dev.belfry.bench.harness.Table;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Kills workers under load and observes what happens to the calls. */
@Command(
    name = "crash",
    description = {
      "SIGKILLs of the worker that gets calls, under load and with a warm spare.",
      "With --minutes: full load with a kill each second, minute by minute."
    },
    mixinStandardHelpOptions = true)
public final class CrashCommand extends Benchmark {
  private static final String WHO = "belfry";
  private static final List<String> POLICIES = List.of("at-least-once", "at-most-once");
  private static final Duration LIMIT_PER_KILL = Duration.ofSeconds(40);
  private static final int MINUTE_SECONDS = 60;
  private static final double AWAY_FROM_MEDIAN = 0.2;

  /** What the process reports for each policy, in this order. */
  private static final List<Metric> COUNTED =
      List.of(
          new Metric("calls", "calls", 1, 0),
          new Metric("failed", "failed", 1, 0),
          new Metric("lost", "lost", 1, 0),
          new Metric("duplicates", "duplicates", 1, 0),
          new Metric("withoutEffect", "without effect", 1, 0),
          new Metric("interrupted", "on killed", 1, 0),
          new Metric("addedP50Nanos", "added p50 ms", 1e6, 2),
          new Metric("addedP99Nanos", "added p99 ms", 1e6, 2),
          new Metric("addedMaxNanos", "added max ms", 1e6, 2),
          new Metric("workerBytes", "worker MB", 1e6, 0));

  private static final Metric LOST = COUNTED.get(2);
  private static final Metric DUPLICATES = COUNTED.get(3);
  private static final Metric WITHOUT_EFFECT = COUNTED.get(4);
  private static final Metric ADDED_P50 = COUNTED.get(6);
  private static final double MAX_ADDED_NANOS = 5e6;

  /** What it reports for each minute. */
  private static final List<Metric> SOAKED =
      List.of(
          new Metric("callsPerSecond", "calls/s", 1, 0),
          new Metric("deaths", "deaths", 1, 0),
          new Metric("hostBytes", "host MB", 1e6, 0),
          new Metric("descriptors", "descriptors", 1, 0));

  @Option(
      names = "--kills",
      paramLabel = "N",
      description = "How many workers are killed (default: 60, with --quick 3).")
  private int kills;

  @Option(
      names = "--minutes",
      paramLabel = "M",
      description = "So many minutes of full load instead; --seconds makes them shorter.")
  private int minutes;

  @Override
  protected Measurements measure(RunOptions options) throws Exception {
    options.select(List.of(WHO));
    var measurements = new Measurements("crash");
    List<String> command = JavaCommand.of(List.of("-Xms256m", "-Xmx256m"), CrashMain.class);
    try (var process = ContenderProcess.start("belfry", command, Pinning.NONE)) {
      process.awaitReady();
      if (minutes > 0) {
        soak(options, process, measurements);
      } else {
        kill(kills > 0 ? kills : options.effort().choose(3, 60, 1000), process, measurements);
      }
    }
    return measurements;
  }

  private void kill(int count, ContenderProcess process, Measurements measurements)
      throws IOException {
    double[] figures;
    try (var progress = new Progress(1)) {
      progress.step(count + " kills");
      figures = figures(process.ask("kills " + count, LIMIT_PER_KILL.multipliedBy(count + 1)));
    }
    for (int i = 0; i < POLICIES.size(); i++) {
      add(measurements, 0, params(POLICIES.get(i), count), COUNTED, figures, i * COUNTED.size());
    }
    print(table(measurements, count));
    for (String policy : POLICIES) {
      print(
          goals(policy).stream()
              .flatMap(goal -> goal.verdict(measurements, params(policy, count)).stream())
              .map(verdict -> verdict + ", " + policy)
              .toList());
    }
    print(
        List.of(
            "Added is the time from the kill to the end of a call that the killed worker had and had",
            "not answered: with its answer from another worker, or with its failure. Lost: it neither",
            "returned nor failed within its deadline of 5 s. Duplicates: its line is in the file twice."));
  }

  private static List<String> table(Measurements measurements, int kills) {
    var headings = new ArrayList<String>();
    headings.add("delivery");
    COUNTED.forEach(metric -> headings.add(metric.heading()));
    var table = new Table(headings);
    for (String policy : POLICIES) {
      var row = new ArrayList<String>();
      row.add(policy);
      for (Metric metric : COUNTED) {
        row.add(
            measurements
                .summary(WHO, params(policy, kills), metric.name())
                .map(summary -> metric.show(summary.median()))
                .orElse("-"));
      }
      table.add(row);
    }
    var lines = new ArrayList<String>();
    lines.add("crash: kills %d, callers %d".formatted(kills, CrashHost.CALLERS));
    lines.addAll(table.lines());
    return lines;
  }

  private static List<Ceiling> goals(String policy) {
    Ceiling lost = new Ceiling(WHO, LOST, 0);
    Ceiling withoutEffect = new Ceiling(WHO, WITHOUT_EFFECT, 0);
    return policy.equals("at-most-once")
        ? List.of(lost, withoutEffect, new Ceiling(WHO, DUPLICATES, 0))
        : List.of(lost, withoutEffect, new Ceiling(WHO, ADDED_P50, MAX_ADDED_NANOS));
  }

  private static Map<String, Object> params(String policy, int kills) {
    var params = new LinkedHashMap<String, Object>();
    params.put("delivery", policy);
    params.put("kills", kills);
    params.put("callers", CrashHost.CALLERS);
    return params;
  }

  private void soak(RunOptions options, ContenderProcess process, Measurements measurements)
      throws IOException {
    Map<String, Object> params = Map.of("workload", "soak");
    long seconds = options.measured(Duration.ofSeconds(MINUTE_SECONDS)).toSeconds();
    Duration limit = Duration.ofSeconds(2 * seconds + MINUTE_SECONDS);
    try (var progress = new Progress(minutes)) {
      for (int minute = 0; minute < minutes; minute++) {
        progress.step("minute " + (minute + 1));
        double[] figures = figures(process.ask("soak " + seconds, limit));
        add(measurements, minute, params, SOAKED, figures, 0);
      }
    }
    print(new ComparisonTable(SOAKED, List.of()).lines(measurements, List.of(WHO), params));
    print(List.of(steadiness(measurements, params)));
    for (Metric metric : SOAKED) {
      print(List.of(metric.heading() + " by minute: " + byMinute(measurements, params, metric)));
    }
  }

  private static String steadiness(Measurements measurements, Map<String, Object> params) {
    Summary rate = measurements.summary(WHO, params, SOAKED.getFirst().name()).orElseThrow();
    double furthest = Math.max(rate.max() / rate.median() - 1, 1 - rate.min() / rate.median());
    return String.format(
        Locale.ROOT,
        "%-6s  calls/s of each minute: at most %.0f %% from the median, goal at most %.0f %%",
        furthest <= AWAY_FROM_MEDIAN ? "met" : "missed",
        100 * furthest,
        100 * AWAY_FROM_MEDIAN);
  }

  private static String byMinute(
      Measurements measurements, Map<String, Object> params, Metric metric) {
    return String.join(
        ", ",
        measurements.samples(WHO, params).stream()
            .map(sample -> metric.show(sample.metrics().getOrDefault(metric.name(), 0.0)))
            .toList());
  }

  private static double[] figures(String line) {
    return Stream.of(line.split(" ", -1)).mapToDouble(Double::parseDouble).toArray();
  }

  private static void add(
      Measurements measurements,
      int round,
      Map<String, Object> params,
      List<Metric> metrics,
      double[] figures,
      int from) {
    var measured = new LinkedHashMap<String, Double>();
    for (int i = 0; i < metrics.size(); i++) {
      measured.put(metrics.get(i).name(), figures[from + i]);
    }
    measurements.add(new Sample(round, WHO, params, measured, Placement.UNKNOWN));
  }
}
