package dev.belfry.bench.call;

import dev.belfry.bench.harness.JavaCommand;
import java.util.Arrays;
import java.util.List;

/** Ways to have something done elsewhere. */
enum CallContender {
  /** The worker fetches and runs calls on one platform thread. */
  BELFRY("belfry"),
  /** The worker does what it does where nothing else is said. */
  BELFRY_DEFAULT("belfry-default"),
  /** The same, called by virtual threads. */
  BELFRY_VIRTUAL("belfry-virtual"),
  /** One thread starts as many calls as there would be callers; the same worker as the first. */
  BELFRY_PIPELINE("belfry-pipeline"),
  UNIX("unix-socket"),
  NETTY("netty"),
  GRPC("grpc"),
  /** In the same process: the floor of what a hand-over to another thread costs. */
  EXECUTOR("executor"),
  /** No calls at all: messages there and back, as many under way as there would be callers. */
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

  /** How the process that calls is started. */
  List<String> command() {
    return JavaCommand.of(flags(), CallMain.class, label);
  }

  private List<String> flags() {
    return switch (this) {
      case NETTY, GRPC -> JavaCommand.NETTY;
      default -> JavaCommand.BELFRY;
    };
  }

  /** Whether one thread has everything under way, so that calls cannot be due one by one. */
  boolean isPipeline() {
    return this == RING || this == BELFRY_PIPELINE;
  }

  /** In that process. */
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
