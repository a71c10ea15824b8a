package dev.belfry.bench.call;

import static dev.belfry.bench.call.CallContender.BELFRY;
import static dev.belfry.bench.call.CallContender.BELFRY_PIPELINE;
import static dev.belfry.bench.call.CallContender.GRPC;
import static dev.belfry.bench.call.CallContender.RING;
import static dev.belfry.bench.call.CallContender.UNIX;
import static dev.belfry.bench.harness.Goal.Bound.AT_LEAST;
import static dev.belfry.bench.harness.Goal.Bound.AT_MOST;

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
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Measures calls and their answers. */
@Command(
    name = "call",
    description = {
      "Calls of 64 bytes and their answers, by 1 and 8 callers and at fixed rates; and calls of"
          + " 64 KiB and 1 MiB by one caller.",
      "Every contender is a warm process that calls and one that answers."
    },
    mixinStandardHelpOptions = true)
public final class CallCommand extends Benchmark {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final List<Metric> METRICS =
      List.of(
          new Metric(CallFigures.RATE, "calls/s", 1, 0),
          new Metric(CallFigures.P50, "p50 us", 1000, 2),
          new Metric(CallFigures.P99, "p99 us", 1000, 1));
  private static final ComparisonTable CLOSED =
      new ComparisonTable(METRICS.subList(0, 2), List.of(GRPC.label, RING.label));
  private static final ComparisonTable LONG =
      new ComparisonTable(METRICS.subList(0, 2), List.of(GRPC.label, UNIX.label));
  private static final ComparisonTable PACED =
      new ComparisonTable(
          List.of(
              METRICS.get(0),
              METRICS.get(1),
              METRICS.get(2),
              new Metric(CallFigures.MAX, "max us", 1000, 0)),
          List.of());

  private static final List<Goal> GOALS =
      List.of(
          new Goal(BELFRY.label, GRPC.label, CallFigures.RATE, "calls/s", AT_LEAST, 10),
          new Goal(BELFRY.label, GRPC.label, CallFigures.P50, "p50", AT_MOST, 0.1),
          new Goal(BELFRY.label, RING.label, CallFigures.RATE, "calls/s", AT_LEAST, 0.5),
          new Goal(BELFRY_PIPELINE.label, RING.label, CallFigures.RATE, "calls/s", AT_LEAST, 0.5));

  private static List<CallLoad> loads(long nanos) {
    return List.of(
        new CallLoad(1, Caller.BYTES, 0, nanos),
        new CallLoad(8, Caller.BYTES, 0, nanos),
        new CallLoad(1, 64 << 10, 0, nanos),
        new CallLoad(1, 1 << 20, 0, nanos),
        new CallLoad(1, Caller.BYTES, 1_000, nanos),
        new CallLoad(1, Caller.BYTES, 5_000, nanos),
        new CallLoad(1, Caller.BYTES, 50_000, nanos));
  }

  private static boolean isLong(CallLoad load) {
    return load.bytes() > Caller.BYTES;
  }

  @Override
  protected Measurements measure(RunOptions options) throws Exception {
    List<String> names = options.select(CallContender.labels());
    Duration measured = options.measuredMillis(50, 500, 1500);
    List<CallLoad> loads = loads(measured.toNanos());
    var measurements = new Measurements("call");
    try (var processes = new ContenderProcesses()) {
      processes.startAll(names, name -> CallContender.of(name).command(), Pinning.NONE);
      var rounds = new Rounds<>(names, name -> name, loads, CallLoad::params);
      try (var progress = new Progress(names.size() + rounds.steps(options.rounds()))) {
        long warmNanos = options.effort().choose(50_000_000L, 4_000_000_000L, 6_000_000_000L);
        for (String name : names) {
          progress.step("warming up " + name);
          for (CallLoad load : loads) {
            if (load.perSecond() == 0 && isFor(load, name)) {
              ask(processes, name, load.lasting(isLong(load) ? warmNanos / 4 : warmNanos));
            }
          }
        }
        rounds.run(
            options.rounds(),
            measurements,
            progress,
            (name, load) -> isFor(load, name) ? ask(processes, name, load).metrics() : Map.of());
      }
    }
    report(names, loads, measurements);
    return measurements;
  }

  private static boolean isFor(CallLoad load, String name) {
    return (load.perSecond() == 0 && !isLong(load)) || !CallContender.of(name).isPipeline();
  }

  private static CallFigures ask(ContenderProcesses processes, String name, CallLoad load)
      throws IOException {
    return CallFigures.parse(processes.get(name).ask(load.line(), LIMIT));
  }

  private void report(List<String> names, List<CallLoad> loads, Measurements measurements) {
    for (CallLoad load : loads) {
      boolean paced = load.perSecond() > 0;
      ComparisonTable table = paced ? PACED : isLong(load) ? LONG : CLOSED;
      print(table.lines(measurements, names, load.params()));
      if (table == CLOSED) {
        printVerdicts(GOALS, measurements, load.params());
      }
    }
    printNotes(
        "Each caller is a thread with one call at a time; one worker or server process. At a fixed",
        "rate a call counts from when it was due, not from when its caller came to it. The pipeline",
        "and the ring are one thread with as many calls or messages under way as there are callers.");
  }
}
