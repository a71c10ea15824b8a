package dev.belfry.cli.config;

import dev.belfry.shm.Placement;
import dev.belfry.shm.WaitStrategy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The workers of a host.
 *
 * @param program what runs in them
 * @param name what they are called, followed by a number
 * @param count how many get calls
 * @param spares how many more are kept ready
 * @param directory where they run
 * @param environment variables in addition to those of this process
 * @param limits what they may have
 * @param placement how the shared memory is laid out
 * @param waiting how callers wait
 * @param restart what happens when they die at once
 * @param recycle when they are replaced
 */
public record WorkersConfig(
    WorkerProgram program,
    String name,
    int count,
    int spares,
    Optional<Path> directory,
    Map<String, String> environment,
    Limits limits,
    Placement placement,
    WaitStrategy waiting,
    Restart restart,
    Recycle recycle) {
  static final String NAME = "worker";
  static final int COUNT = 2;
  static final int SPARES = 1;

  public WorkersConfig {
    environment = Map.copyOf(environment);
  }

  static WorkersConfig of(WorkerProgram program) {
    return new WorkersConfig(
        program,
        NAME,
        COUNT,
        SPARES,
        Optional.empty(),
        Map.of(),
        Limits.DEFAULT,
        Placement.PADDED,
        WaitStrategy.ADAPTIVE,
        Restart.DEFAULT,
        new Recycle(OptionalLong.empty(), Optional.empty()));
  }

  /**
   * What a worker may have.
   *
   * @param callsPerWorker how many calls at a time
   * @param attempts to how many workers a call is given, when they die one after the other
   * @param ready how long it may take to become ready
   * @param stuck how long it may go on with a call that was given up
   * @param heartbeat how often it shows that it is alive
   * @param openFiles how many descriptors
   * @param memoryMib how much memory of its own
   */
  public record Limits(
      int callsPerWorker,
      int attempts,
      Duration ready,
      Duration stuck,
      Duration heartbeat,
      OptionalLong openFiles,
      OptionalLong memoryMib) {
    static final Limits DEFAULT =
        new Limits(
            64,
            3,
            Duration.ofSeconds(30),
            Duration.ofSeconds(1),
            Duration.ofSeconds(5),
            OptionalLong.empty(),
            OptionalLong.empty());
  }

  /**
   * When another is started after one that died without having done anything.
   *
   * @param firstDelay after the first
   * @param longestDelay at most
   * @param crashLimit after how many in a row no more are started
   */
  public record Restart(Duration firstDelay, Duration longestDelay, int crashLimit) {
    static final Restart DEFAULT = new Restart(Duration.ofMillis(100), Duration.ofSeconds(10), 5);
  }

  /**
   * When a worker is replaced though nothing is wrong with it.
   *
   * @param calls after about this many calls
   * @param age at this age
   */
  public record Recycle(OptionalLong calls, Optional<Duration> age) {}
}
