package dev.belfry.bench.ipc;

import static dev.belfry.bench.harness.Goal.Bound.AT_MOST;
import static dev.belfry.bench.ipc.IpcContender.AERON;
import static dev.belfry.bench.ipc.IpcContender.AGRONA_MANY;
import static dev.belfry.bench.ipc.IpcContender.AGRONA_ONE;
import static dev.belfry.bench.ipc.IpcContender.BELFRY_ADAPTIVE;
import static dev.belfry.bench.ipc.IpcContender.BELFRY_SLEEP;
import static dev.belfry.bench.ipc.IpcContender.BELFRY_SPIN;
import static dev.belfry.bench.ipc.IpcContender.CHRONICLE;
import static dev.belfry.bench.ipc.IpcContender.C_ADAPTIVE;
import static dev.belfry.bench.ipc.IpcContender.C_FUTEX;
import static dev.belfry.bench.ipc.IpcContender.C_SPIN;

import dev.belfry.bench.harness.Goal;
import dev.belfry.bench.harness.Metric;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;

/** Measures how long a message takes to another process and back. */
@Command(
    name = "ipc-rtt",
    description = {
      "Round trips between two processes, messages of 32, 64 and 128 bytes.",
      "--full: from 16 bytes to 64 KiB."
    },
    mixinStandardHelpOptions = true)
public final class RoundTripCommand extends IpcBenchmark {
  private static final String ROUND_TRIP = "roundTripNanos";
  private static final int INLINE_BYTES = 32;

  public RoundTripCommand() {
    super(
        "ipc-rtt",
        "echo",
        "ping",
        new Metric(ROUND_TRIP, "round trip ns", 1, 0),
        List.of(C_SPIN, AERON, AGRONA_ONE));
  }

  @Override
  boolean takesPart(IpcContender contender) {
    return !contender.isBatch();
  }

  @Override
  List<Goal> goals(int bytes) {
    var goals = new ArrayList<Goal>();
    goals.add(goal(BELFRY_SPIN, C_SPIN, 2));
    // Two thirds of the best peer's time where only the descriptor moves; otherwise level.
    double ofPeers = bytes <= INLINE_BYTES ? 2.0 / 3 : 1;
    for (IpcContender peer : List.of(AERON, AGRONA_ONE, AGRONA_MANY, CHRONICLE)) {
      goals.add(goal(BELFRY_SPIN, peer, ofPeers));
    }
    goals.add(goal(BELFRY_ADAPTIVE, C_ADAPTIVE, 1.25));
    goals.add(goal(BELFRY_SLEEP, C_FUTEX, 1.1));
    return goals;
  }

  private static Goal goal(IpcContender who, IpcContender against, double limit) {
    return new Goal(who.label, against.label, ROUND_TRIP, "round trip", AT_MOST, limit);
  }
}
