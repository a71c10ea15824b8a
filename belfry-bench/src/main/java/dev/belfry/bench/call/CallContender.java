package dev.belfry.bench.call;

import dev.belfry.bench.harness.JavaCommand;
import java.util.Arrays;
import java.util.List;

/** Ways to have work done elsewhere. */
enum CallContender {
  /** The worker reads and runs calls on one platform thread. */
  BELFRY("belfry"),
  /** The worker with its default threads. */
  BELFRY_DEFAULT("belfry-default"),
  /** The default worker, called by virtual threads. */
  BELFRY_VIRTUAL("belfry-virtual"),
  /**
   * One thread keeps as many calls in flight as there would be callers; the worker is that of
   * {@link #BELFRY}.
   */
  BELFRY_PIPELINE("belfry-pipeline"),
  UNIX("unix-socket"),
  NETTY("netty"),
  GRPC("grpc"),
  /** In the same process: the least that a hand-off to another thread costs. */
  EXECUTOR("executor"),
  /** No calls, only messages there and back, as many in flight as there would be callers. */
  RING("ring");

  /** The name on the command line and in the tables. */
  final String label;

  CallContender(String label) {
    this.label = label;
  }

  static List<String> labels() {
    return Arrays.stream(values()).map(contender -> contender.label).toList();
  }

  static CallContender of(String label) {
    return Arrays.stream(values())
        .filter(contender -> contender.label.equals(label))
        .findAny()
        .orElseThrow();
  }

  /** The command that starts the calling process. */
  List<String> command() {
    return JavaCommand.of(flags(), CallMain.class, label);
  }

  private List<String> flags() {
    return switch (this) {
      case NETTY, GRPC -> JavaCommand.NETTY;
      default -> JavaCommand.BELFRY;
    };
  }

  /** Whether one thread has all calls in flight, so that they cannot be paced one by one. */
  boolean isPipeline() {
    return this == RING || this == BELFRY_PIPELINE;
  }

  /** Opens it, in the calling process. */
  Calling open() throws Exception {
    return switch (this) {
      case BELFRY -> new PoolCalling(PoolCalling.open(1), false);
      case BELFRY_DEFAULT -> new PoolCalling(PoolCalling.open(0), false);
      case BELFRY_VIRTUAL -> new PoolCalling(PoolCalling.open(0), true);
      case BELFRY_PIPELINE -> new PoolPipeline(PoolCalling.open(1));
      case UNIX -> UnixCalling.open();
      case NETTY -> NettyCalling.open();
      case GRPC -> GrpcCalling.open();
      case EXECUTOR -> new ExecutorCalling();
      case RING -> RingRoundTrips.open();
    };
  }
}
