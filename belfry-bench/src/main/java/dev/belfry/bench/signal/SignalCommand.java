package dev.belfry.bench.signal;

import static dev.belfry.bench.harness.Goal.Bound.AT_MOST;
import static dev.belfry.bench.signal.SignalContender.BELFRY_AWAIT;
import static dev.belfry.bench.signal.SignalContender.BELFRY_CALLBACK;
import static dev.belfry.bench.signal.SignalContender.C;
import static dev.belfry.bench.signal.SignalContender.C_THREADS;

import dev.belfry.bench.harness.Benchmark;
import dev.belfry.bench.harness.ComparisonTable;
import dev.belfry.bench.harness.ContenderProcesses;
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
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine.Command;

/** Measures the time of a signal from its sender to its handler. */
@Command(
    name = "signal",
    description = {
      "From kill to the handler: signals one at a time, in bursts, and 100,000 at once.",
      "Every receiver is a warm process of its own; the sender is a C program."
    },
    mixinStandardHelpOptions = true)
public final class SignalCommand extends Benchmark {
  private static final Metric P50 = new Metric(SignalLoad.MEDIAN, "p50 us", 1000, 1);
  private static final Metric P99 = new Metric(SignalLoad.P99, "p99 us", 1000, 1);
  private static final Metric RATE = new Metric(SignalLoad.RATE, "signals/s", 1, 0);
  private static final List<String> REFERENCES = List.of(C.label, C_THREADS.label);
  private static final ComparisonTable LATENCY = new ComparisonTable(List.of(P50, P99), REFERENCES);
  private static final ComparisonTable PACE = new ComparisonTable(List.of(RATE), REFERENCES);

  private static final List<Goal> GOALS =
      List.of(new Goal(BELFRY_CALLBACK.label, C.label, SignalLoad.MEDIAN, "p50", AT_MOST, 1.2));

  @Override
  protected Measurements measure(RunOptions options) throws Exception {
    List<String> names = options.select(SignalContender.labels());
    var measurements = new Measurements("signal");
    try (Workshop workshop = Workshop.open();
        var processes = new ContenderProcesses()) {
      Path sender = workshop.compileC(SignalCommand.class, "signal_load.c");
      Path cLoop = workshop.compileC(SignalCommand.class, "signal_loop.c");
      Path mailbox = sender.resolveSibling("mailbox");
      Mailbox.create(mailbox);
      processes.startAll(
          names,
          name -> SignalContender.of(name).command(cLoop, mailbox),
          pinning(options, Pinning.LAST));
      var load = new SignalLoad(sender, mailbox, pinning(options, Pinning.FIRST));
      run(options, names, processes, load, measurements);
    }
    report(names, measurements);
    return measurements;
  }

  private static void run(
      RunOptions options,
      List<String> names,
      ContenderProcesses processes,
      SignalLoad load,
      Measurements measurements)
      throws IOException {
    Duration measured = options.measuredMillis(50, 700, 1500);
    int warmUps = options.effort().choose(100, 20_000, 50_000);
    var rounds =
        new Rounds<>(
            names, Function.identity(), List.of(SignalWorkload.values()), SignalCommand::params);
    int warmUpSteps = names.size() * SignalWorkload.values().length;
    try (var progress = new Progress(warmUpSteps + rounds.steps(options.rounds()))) {
      for (String name : names) {
        for (SignalWorkload workload : SignalWorkload.values()) {
          progress.step("warming up " + name);
          SignalContender contender = SignalContender.of(name);
          if (contender.warmsUp() && contender.takesPartIn(workload)) {
            load.warmUp(name, processes.get(name), workload, warmUps);
          }
        }
      }
      rounds.run(
          options.rounds(),
          measurements,
          progress,
          (name, workload) ->
              SignalContender.of(name).takesPartIn(workload)
                  ? load.run(name, processes.get(name), workload, measured)
                  : Map.of());
    }
  }

  private static Map<String, Object> params(SignalWorkload workload) {
    return Map.of("workload", workload.label);
  }

  private void report(List<String> names, Measurements measurements) {
    for (SignalWorkload workload : SignalWorkload.values()) {
      boolean flood = workload == SignalWorkload.FLOOD;
      Map<String, Object> params = params(workload);
      print((flood ? PACE : LATENCY).lines(measurements, names, params));
      if (!flood) {
        printVerdicts(GOALS, measurements, params);
      }
    }
    print(
        Stream.of(BELFRY_CALLBACK.label, BELFRY_AWAIT.label)
            .filter(names::contains)
            .map(name -> lossVerdict(name, measurements))
            .toList());
    printNotes(
        "Times are from before kill or sigqueue in the sender to the first line of the handler.");
  }

  private static String lossVerdict(String name, Measurements measurements) {
    double lost = 0;
    double disorder = 0;
    for (SignalWorkload workload : SignalWorkload.values()) {
      for (var sample : measurements.samples(name, params(workload))) {
        lost += sample.metrics().getOrDefault(SignalLoad.LOST, 0.0);
        disorder += sample.metrics().getOrDefault(SignalLoad.DISORDER, 0.0);
      }
    }
    return String.format(
        Locale.ROOT,
        "%-6s  signals of %s lost: %.0f, out of order: %.0f, goal none",
        lost + disorder == 0 ? "met" : "missed",
        name,
        lost,
        disorder);
  }
}
