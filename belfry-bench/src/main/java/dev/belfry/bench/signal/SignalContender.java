package dev.belfry.bench.signal;

import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.linux.SignalLaunch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Ways to receive signals. */
enum SignalContender {
  BELFRY_CALLBACK("belfry-callback"),
  BELFRY_AWAIT("belfry-await"),
  /** Standard signals only. */
  JDK("sun.misc.Signal"),
  C("c"),
  /** The C receiver among as many threads as a JVM has, each of which the kernel tries first. */
  C_THREADS("c-threads");

  private static final int THREADS_OF_A_JVM = 20;

  /** The name on the command line and in the tables. */
  final String label;

  SignalContender(String label) {
    this.label = label;
  }

  static List<String> labels() {
    return Arrays.stream(values()).map(contender -> contender.label).toList();
  }

  static SignalContender of(String label) {
    return Arrays.stream(values())
        .filter(contender -> contender.label.equals(label))
        .findAny()
        .orElseThrow();
  }

  boolean takesPartIn(SignalWorkload workload) {
    return this != JDK || workload == SignalWorkload.PACED;
  }

  /** Whether it gets faster while it runs. */
  boolean warmsUp() {
    return this != C && this != C_THREADS;
  }

  /** The command that starts its process. */
  List<String> command(Path cLoop, Path mailbox) {
    return switch (this) {
      case BELFRY_CALLBACK, BELFRY_AWAIT -> belfry(mailbox);
      case JDK -> JavaCommand.of(List.of(), JdkReceiver.class, label, mailbox.toString());
      case C -> List.of(cLoop.toString(), mailbox.toString());
      case C_THREADS ->
          List.of(cLoop.toString(), mailbox.toString(), String.valueOf(THREADS_OF_A_JVM));
    };
  }

  /** Like the launcher, with the signals blocked in every thread. */
  private List<String> belfry(Path mailbox) {
    var flags = new ArrayList<>(JavaCommand.BELFRY);
    flags.add("-Xrs");
    String blocked =
        SignalLaunch.SIGNALS
            .signals()
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(",", "--block-signal=", ""));
    var command = new ArrayList<>(List.of("env", blocked, "_JAVA_SR_SIGNUM=64"));
    command.addAll(JavaCommand.of(flags, BelfryReceiver.class, label, mailbox.toString()));
    return command;
  }
}
