package dev.belfry.bench.death;

import dev.belfry.bench.harness.Benchmark;
import dev.belfry.bench.harness.Ceiling;
import dev.belfry.bench.harness.ComparisonTable;
import dev.belfry.bench.harness.Measurements;
import dev.belfry.bench.harness.Metric;
import dev.belfry.bench.harness.Progress;
import dev.belfry.bench.harness.Rounds;
import dev.belfry.bench.harness.RunOptions;
import dev.belfry.bench.harness.Workshop;
import java.util.List;
import java.util.function.Function;
import picocli.CommandLine.Command;

/** Measures the time from SIGKILL until the death is noticed. */
@Command(
    name = "death",
    description = {
      "From SIGKILL of a worker to the notice, by the worker's size.",
      "One worker is started and killed for each figure."
    },
    mixinStandardHelpOptions = true)
public final class DeathCommand extends Benchmark {
  private static final Metric NOTICE = new Metric(Watchers.NOTICE, "notice ms", 1e6, 2);
  private static final Metric GONE = new Metric(Watchers.GONE, "gone ms", 1e6, 2);
  private static final Ceiling GOAL = new Ceiling(Watchers.BELFRY, NOTICE, 500_000);
  private static final ComparisonTable TABLE =
      new ComparisonTable(List.of(NOTICE, GONE), List.of(Watchers.PIDFD));

  @Override
  protected Measurements measure(RunOptions options) throws Exception {
    List<String> names = options.select(Watchers.NAMES);
    List<Victim> victims =
        options.effort().choose(Victim.all().subList(3, 4), Victim.all(), Victim.all());
    var measurements = new Measurements("death");
    try (Workshop workshop = Workshop.open();
        Watchers watchers =
            Watchers.open(
                workshop.compileC(DeathCommand.class, "death_worker.c"),
                workshop.compileC(DeathCommand.class, "death_watch.c"))) {
      var rounds = new Rounds<>(names, Function.identity(), victims, Victim::params);
      int warmUps = options.effort().choose(1, 10, 10);
      try (var progress = new Progress(warmUps * names.size() + rounds.steps(options.rounds()))) {
        for (int i = 0; i < warmUps; i++) {
          for (String name : names) {
            progress.step("warming up " + name);
            watchers.kill(name, new Victim("c", 1));
          }
        }
        rounds.run(options.rounds(), measurements, progress, watchers::kill);
      }
    }
    for (Victim victim : victims) {
      print(TABLE.lines(measurements, names, victim.params()));
      GOAL.verdict(measurements, victim.params()).ifPresent(verdict -> print(List.of(verdict)));
    }
    printNotes(
        "Times are from before kill to the first line that knows: onDying and onGone for belfry,",
        "the return of poll for pidfd-c and socket-c, the completion of ProcessHandle.onExit.");
    return measurements;
  }
}
