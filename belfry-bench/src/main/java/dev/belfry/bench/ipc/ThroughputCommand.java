package dev.belfry.bench.ipc;

import static dev.belfry.bench.harness.Goal.Bound.AT_LEAST;
import static dev.belfry.bench.ipc.IpcContender.AERON;
import static dev.belfry.bench.ipc.IpcContender.AGRONA_MANY;
import static dev.belfry.bench.ipc.IpcContender.AGRONA_ONE;
import static dev.belfry.bench.ipc.IpcContender.BELFRY_BATCH;
import static dev.belfry.bench.ipc.IpcContender.BELFRY_SPIN;
import static dev.belfry.bench.ipc.IpcContender.C_BATCH;
import static dev.belfry.bench.ipc.IpcContender.C_SPIN;

import dev.belfry.bench.harness.Goal;
import dev.belfry.bench.harness.Metric;
import java.util.List;
import picocli.CommandLine.Command;

/** Measures how many messages pass to another process. */
@Command(
    name = "ipc-throughput",
    description = {
      "Messages a second from one process to another, of 32, 64 and 128 bytes.",
      "--full: from 16 bytes to 64 KiB."
    },
    mixinStandardHelpOptions = true)
public final class ThroughputCommand extends IpcBenchmark {
  private static final String RATE = "messagesPerSecond";
  private static final int INLINE_BYTES = 32;

  public ThroughputCommand() {
    super(
        "ipc-throughput",
        "sink",
        "source",
        new Metric(RATE, "million/s", 1e6, 2),
        List.of(C_SPIN, C_BATCH, AERON, AGRONA_ONE));
  }

  @Override
  boolean takesPart(IpcContender contender) {
    return contender != IpcContender.C_WORD;
  }

  @Override
  List<Goal> goals(int bytes) {
    if (bytes > INLINE_BYTES) {
      return List.of();
    }
    return List.of(
        goal(BELFRY_SPIN, AERON, 1.5),
        goal(BELFRY_SPIN, AGRONA_ONE, 1.5),
        goal(BELFRY_SPIN, AGRONA_MANY, 1.5),
        goal(BELFRY_SPIN, C_SPIN, 0.9),
        goal(BELFRY_BATCH, AERON, 1.5),
        goal(BELFRY_BATCH, AGRONA_ONE, 1.5),
        goal(BELFRY_BATCH, C_BATCH, 0.9));
  }

  private static Goal goal(IpcContender who, IpcContender against, double limit) {
    return new Goal(who.label, against.label, RATE, "messages/s", AT_LEAST, limit);
  }
}
