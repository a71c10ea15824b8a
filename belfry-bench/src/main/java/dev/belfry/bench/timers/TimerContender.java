package dev.belfry.bench.timers;

import dev.belfry.bench.harness.JavaCommand;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Implementations of timers. */
enum TimerContender {
  BELFRY("belfry"),
  NETTY_LOOP("netty-loop"),
  NETTY_WHEEL("netty-wheel"),
  EXECUTOR("executor"),
  /** {@code epoll_pwait2} through Belfry's system calls; lateness only. */
  BARE_WAIT("bare-wait"),
  /** {@code epoll_pwait2} in C; lateness only. */
  BARE_WAIT_C("bare-wait-c");

  /** The name on the command line and in the tables. */
  final String label;

  TimerContender(String label) {
    this.label = label;
  }

  static List<String> labels() {
    return Arrays.stream(values()).map(contender -> contender.label).toList();
  }

  static TimerContender of(String label) {
    return Arrays.stream(values())
        .filter(contender -> contender.label.equals(label))
        .findAny()
        .orElseThrow();
  }

  boolean takesPartIn(Workload workload) {
    return workload == Workload.LATENESS || (this != BARE_WAIT && this != BARE_WAIT_C);
  }

  /** A fresh set of timers, in the contender's own process. */
  Timers open() throws Exception {
    return switch (this) {
      case BELFRY -> new BelfryTimers();
      case NETTY_LOOP -> new NettyLoopTimers();
      case NETTY_WHEEL -> new WheelTimers();
      case EXECUTOR -> new ExecutorTimers();
      case BARE_WAIT -> new BareWait();
      case BARE_WAIT_C -> throw new IllegalStateException("not a Java program");
    };
  }

  /** The command that starts its process. */
  List<String> command(Path bareWait) {
    return switch (this) {
      case BARE_WAIT_C -> List.of(bareWait.toString());
      case NETTY_LOOP, NETTY_WHEEL -> java(JavaCommand.NETTY);
      case BELFRY, BARE_WAIT -> java(JavaCommand.BELFRY);
      case EXECUTOR -> java(List.of());
    };
  }

  private List<String> java(List<String> flags) {
    return JavaCommand.of(flags, TimersMain.class, label);
  }
}
