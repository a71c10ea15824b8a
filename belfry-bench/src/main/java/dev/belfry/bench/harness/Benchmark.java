package dev.belfry.bench.harness;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;

/** A subcommand that measures something and reports it in the common format. */
public abstract class Benchmark implements Callable<Integer> {
  private final PrintStream out = System.out;

  @Mixin private RunOptions options = new RunOptions();

  /** Measures, and prints the tables and verdicts. */
  protected abstract Measurements measure(RunOptions options) throws Exception;

  @Override
  public final Integer call() throws Exception {
    Measurements measurements = measure(options);
    if (options.effort() == Effort.QUICK) {
      print(List.of("A quick run shows that everything works; its figures mean nothing."));
    }
    Path json = options.json();
    if (json != null) {
      JsonReport.write(json, measurements);
    }
    return ExitCode.OK;
  }

  /** Prints lines, followed by a blank one. */
  protected final void print(List<String> lines) {
    lines.forEach(out::println);
    out.println();
  }

  /** Prints what the figures mean, and how those of the rounds were summarised. */
  protected final void printNotes(String... notes) {
    var lines = new ArrayList<>(List.of(notes));
    lines.add("Medians of the rounds; a ratio is the median of the ratios within each round.");
    print(lines);
  }

  /** Prints which goals are met under the given circumstances. */
  protected final void printVerdicts(
      List<Goal> goals, Measurements measurements, Map<String, Object> params) {
    List<String> verdicts =
        goals.stream().flatMap(goal -> goal.verdict(measurements, params).stream()).toList();
    if (!verdicts.isEmpty()) {
      print(verdicts);
    }
  }

  /** Where a process runs, or anywhere if pinning is off. */
  protected static Pinning pinning(RunOptions options, Pinning place) {
    return options.pin() ? place : Pinning.NONE;
  }
}
