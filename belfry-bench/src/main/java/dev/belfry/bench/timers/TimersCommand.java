package dev.belfry.bench.timers;

import static dev.belfry.bench.harness.Goal.Bound.AT_LEAST;
import static dev.belfry.bench.harness.Goal.Bound.AT_MOST;
import static dev.belfry.bench.timers.TimerContender.BARE_WAIT_C;
import static dev.belfry.bench.timers.TimerContender.BELFRY;
import static dev.belfry.bench.timers.TimerContender.NETTY_LOOP;

import dev.belfry.bench.harness.Benchmark;
import dev.belfry.bench.harness.ComparisonTable;
import dev.belfry.bench.harness.ContenderProcesses;
import dev.belfry.bench.harness.Effort;
import dev.belfry.bench.harness.Goal;
import dev.belfry.bench.harness.Measurements;
import dev.belfry.bench.harness.Metric;
import dev.belfry.bench.harness.Pinning;
import dev.belfry.bench.harness.Progress;
import dev.belfry.bench.harness.Rounds;
import dev.belfry.bench.harness.RunOptions;
import dev.belfry.bench.harness.Workshop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine.Command;

/** Measures timers: how many per second, and how late they are. */
@Command(
    name = "timers",
    description = {
      "Timers armed and cancelled, armed and fired, among a million pending; and their lateness.",
      "Every contender is a warm JVM of its own; each measurement has a fresh set of timers."
    },
    mixinStandardHelpOptions = true)
public final class TimersCommand extends Benchmark {
  private static final ComparisonTable PACE =
      new ComparisonTable(
          List.of(new Metric(TimerQuestions.RATE, "operations/s", 1, 0)),
          List.of(NETTY_LOOP.label));

  private static final ComparisonTable LATENESS =
      new ComparisonTable(
          List.of(
              new Metric(TimerQuestions.LATE_MEDIAN, "p50 us late", 1000, 1),
              new Metric(TimerQuestions.LATE_P99, "p99 us late", 1000, 1)),
          List.of(BARE_WAIT_C.label));

  private static final List<Goal> PACE_GOALS =
      List.of(
          new Goal(
              BELFRY.label, NETTY_LOOP.label, TimerQuestions.RATE, "operations/s", AT_LEAST, 2.0));

  private static final List<Goal> LATENESS_GOALS =
      List.of(
          new Goal(
              BELFRY.label,
              BARE_WAIT_C.label,
              TimerQuestions.LATE_P99,
              "p99 lateness",
              AT_MOST,
              1.2));

  @Override
  protected Measurements measure(RunOptions options) throws Exception {
    List<String> names = options.select(TimerContender.labels());
    var measurements = new Measurements("timers");
    try (Workshop workshop = Workshop.open();
        var processes = new ContenderProcesses()) {
      Path bareWait = workshop.compileC(TimersCommand.class, "bare_wait.c");
      processes.startAll(
          names, name -> TimerContender.of(name).command(bareWait), pinning(options, Pinning.LAST));
      run(options, names, processes, measurements);
    }
    report(names, measurements);
    return measurements;
  }

  private static void run(
      RunOptions options,
      List<String> names,
      ContenderProcesses processes,
      Measurements measurements)
      throws IOException {
    Effort effort = options.effort();
    var questions = new TimerQuestions(options.measuredMillis(100, 700, 1500));
    var rounds =
        new Rounds<>(names, Function.identity(), List.of(Workload.values()), TimersCommand::params);
    int warmUps = names.size() * Workload.values().length;
    try (var progress = new Progress(warmUps + rounds.steps(options.rounds()))) {
      warmUp(effort, names, processes, progress);
      rounds.run(
          options.rounds(),
          measurements,
          progress,
          (name, workload) ->
              TimerContender.of(name).takesPartIn(workload)
                  ? questions.ask(processes.get(name), workload)
                  : Map.of());
    }
  }

  /** Lets the JVMs' compilers finish, for every workload. */
  private static void warmUp(
      Effort effort, List<String> names, ContenderProcesses processes, Progress progress)
      throws IOException {
    var questions =
        new TimerQuestions(
            effort.choose(Duration.ofMillis(50), Duration.ofMillis(1000), Duration.ofSeconds(3)));
    for (String name : names) {
      for (Workload workload : Workload.values()) {
        progress.step("warming up " + name);
        boolean costly = effort == Effort.QUICK && workload == Workload.MILLION_PENDING;
        if (TimerContender.of(name).takesPartIn(workload) && !costly) {
          questions.warmUp(processes.get(name), workload);
        }
      }
    }
  }

  private static Map<String, Object> params(Workload workload) {
    return Map.of("workload", workload.label);
  }

  private void report(List<String> names, Measurements measurements) {
    for (Workload workload : Workload.values()) {
      boolean lateness = workload == Workload.LATENESS;
      Map<String, Object> params = params(workload);
      print((lateness ? LATENESS : PACE).lines(measurements, names, params));
      printVerdicts(lateness ? LATENESS_GOALS : PACE_GOALS, measurements, params);
    }
    print(earlyVerdict(names, measurements));
    printNotes(
        "Lateness is that of 1 ms timers, one at a time, on an otherwise idle loop or thread.");
  }

  private static List<String> earlyVerdict(List<String> names, Measurements measurements) {
    if (!names.contains(BELFRY.label)) {
      return List.of();
    }
    double early =
        measurements.samples(BELFRY.label, params(Workload.LATENESS)).stream()
            .mapToDouble(sample -> sample.metrics().getOrDefault(TimerQuestions.EARLY, 0.0))
            .sum();
    return List.of(
        "%-6s  timers of belfry that fired early: %.0f, goal none"
            .formatted(early == 0 ? "met" : "missed", early));
  }
}
