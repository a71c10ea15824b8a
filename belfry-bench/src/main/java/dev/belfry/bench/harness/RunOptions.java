package dev.belfry.bench.harness;

import dev.belfry.loop.Backend;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The options of every benchmark. */
public final class RunOptions {
  @ArgGroup private Length length = new Length();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Number of rounds; each contender comes once in each.")
  private int rounds;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Length of one measurement in seconds.")
  private double seconds;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON.")
  private @Nullable Path json;

  @Option(
      names = "--only",
      paramLabel = "NAME",
      split = ",",
      description = "Restrict the contenders.")
  private List<String> only = List.of();

  @Option(
      names = "--pin",
      description = "Keep the measured process on one processor, the load on another.")
  private boolean pin;

  /** How long the whole run may take. */
  static final class Length {
    @Option(names = "--quick", description = "A few seconds: shows that it works.")
    private boolean quick;

    @Option(names = "--full", description = "At most twenty minutes.")
    private boolean full;
  }

  /** How long the whole run may take. */
  public Effort effort() {
    return length.quick ? Effort.QUICK : length.full ? Effort.FULL : Effort.NORMAL;
  }

  /** The number of rounds. */
  public int rounds() {
    return rounds > 0 ? rounds : effort().rounds();
  }

  /** How long one measurement takes: as given on the command line, or else this long. */
  public Duration measured(Duration unlessTold) {
    return seconds > 0 ? Duration.ofNanos((long) (seconds * 1e9)) : unlessTold;
  }

  /** The same, with a default in milliseconds for each effort. */
  public Duration measuredMillis(int quick, int normal, int full) {
    return measured(Duration.ofMillis(effort().choose(quick, normal, full)));
  }

  /** The file for the JSON report, or null. */
  public @Nullable Path json() {
    return json;
  }

  /** Whether processes are pinned to processors. */
  public boolean pin() {
    return pin;
  }

  /**
   * The selected names, in the order given here.
   *
   * @throws IllegalArgumentException if one is unknown, or cannot run here
   */
  public List<String> select(List<String> all) {
    for (String name : only) {
      if (!all.contains(name)) {
        throw new IllegalArgumentException(
            "--only: there is no contender %s; there are %s"
                .formatted(name, String.join(", ", all)));
      }
    }
    return withoutIoUringIfRefused(
        only.isEmpty() ? all : all.stream().filter(only::contains).toList());
  }

  /** Many containers refuse io_uring; the others can be compared all the same. */
  private List<String> withoutIoUringIfRefused(List<String> names) {
    Optional<String> cause = Backend.IO_URING.unavailabilityCause();
    List<String> refused = names.stream().filter(name -> name.contains("io_uring")).toList();
    if (cause.isEmpty() || refused.isEmpty()) {
      return names;
    }
    String what =
        "%s: there is no io_uring here, %s".formatted(String.join(", ", refused), cause.get());
    if (!only.isEmpty()) {
      throw new IllegalArgumentException("--only: " + what);
    }
    System.err.println("left out " + what);
    return names.stream().filter(name -> !refused.contains(name)).toList();
  }
}
