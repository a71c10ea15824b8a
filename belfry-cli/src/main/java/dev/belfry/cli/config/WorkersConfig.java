package dev.belfry.cli.config;

import dev.belfry.shm.Placement;
import dev.belfry.shm.WaitStrategy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The configuration of a host's workers.
 *
 * @param program the program they run
 * @param name their name, to which a number is added
 * @param count how many receive calls
 * @param spares how many more are kept ready
 * @param directory their working directory
 * @param environment environment variables, in addition to those of this process
 * @param limits their limits
 * @param placement the layout of the shared memory
 * @param waiting how callers wait
 * @param restart when those that died early are replaced
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
   * The limits of a worker.
   *
   * @param callsPerWorker how many calls it may have at a time
   * @param attempts how many workers a call is given to, if they die one after the other
   * @param ready how long it may take to become ready
   * @param stuck how long it may carry on with a call that was given up
   * @param heartbeat how often it must show that it is alive
   * @param openFiles how many descriptors it may have
   * @param memoryMib how much private memory it may have
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
   * When workers that died before they had served are replaced.
   *
   * @param firstDelay the delay after the first death
   * @param longestDelay the longest delay
   * @param crashLimit after how many such deaths in a row no more workers are started
   */
  public record Restart(Duration firstDelay, Duration longestDelay, int crashLimit) {
    static final Restart DEFAULT = new Restart(Duration.ofMillis(100), Duration.ofSeconds(10), 5);
  }

  /**
   * When a healthy worker is replaced.
   *
   * @param calls after about this many calls
   * @param age at this age
   */
  public record Recycle(OptionalLong calls, Optional<Duration> age) {}
}
