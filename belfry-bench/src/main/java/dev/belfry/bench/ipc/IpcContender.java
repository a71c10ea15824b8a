package dev.belfry.bench.ipc;

import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.shm.Placement;
import dev.belfry.shm.Segment;
import dev.belfry.shm.WaitStrategy;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Ways to carry messages between two processes. */
enum IpcContender {
  BELFRY_SPIN("belfry-spin"),
  BELFRY_ADAPTIVE("belfry-adaptive"),
  BELFRY_SLEEP("belfry-sleep"),
  BELFRY_V1_SPIN("belfry-v1-spin"),
  BELFRY_V1_ADAPTIVE("belfry-v1-adaptive"),
  BELFRY_V1_SLEEP("belfry-v1-sleep"),
  /** Published and read in batches; throughput only. */
  BELFRY_BATCH("belfry-batch"),
  BELFRY_V1_BATCH("belfry-v1-batch"),
  AERON("aeron"),
  AGRONA_ONE("agrona-one-to-one"),
  AGRONA_MANY("agrona-many-to-one"),
  CHRONICLE("chronicle"),
  UNIX("unix-socket"),
  C_SPIN("c-spin"),
  C_ADAPTIVE("c-adaptive"),
  C_FUTEX("c-futex"),
  C_BATCH("c-batch"),
  /**
   * One word there and back, without a message: the cost of the processors alone; round trips only.
   */
  C_WORD("c-word");

  /** The number of messages in a batch. */
  private static final int BATCH = 32;

  /** Flags for peers built on Unsafe and on the JDK's internals. */
  private static final List<String> OPENED =
      List.of(
          "--sun-misc-unsafe-memory-access=allow",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
          "--add-opens=java.base/java.io=ALL-UNNAMED",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/java.util=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
          "--add-opens=jdk.compiler/com.sun.tools.javac=ALL-UNNAMED",
          "--add-opens=jdk.unsupported/sun.misc=ALL-UNNAMED",
          "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
          "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-exports=java.base/jdk.internal.util=ALL-UNNAMED",
          "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
          "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
          "-Dagrona.disable.bounds.checks=true",
          "-Dchronicle.analytics.disable=true");

  /** The name on the command line and in the tables. */
  final String label;

  IpcContender(String label) {
    this.label = label;
  }

  static List<String> labels() {
    return Arrays.stream(values()).map(contender -> contender.label).toList();
  }

  static IpcContender of(String label) {
    return Arrays.stream(values())
        .filter(contender -> contender.label.equals(label))
        .findAny()
        .orElseThrow();
  }

  boolean isBatch() {
    return this == BELFRY_BATCH || this == BELFRY_V1_BATCH || this == C_BATCH;
  }

  private int batch() {
    return isBatch() ? BATCH : 1;
  }

  boolean isC() {
    return label.startsWith("c-");
  }

  /** The command that starts one of its two processes. */
  List<String> command(Path ring, String role, Path directory, int length) {
    String bytes = String.valueOf(length);
    return switch (this) {
      case C_SPIN, C_BATCH -> c(ring, role, "spin", directory, bytes);
      case C_ADAPTIVE -> c(ring, role, "adaptive", directory, bytes);
      case C_FUTEX -> c(ring, role, "futex", directory, bytes);
      case C_WORD -> c(ring, role, "word", directory, bytes);
      case AERON, AGRONA_ONE, AGRONA_MANY, CHRONICLE -> java(OPENED, role, directory, bytes);
      default -> java(List.of(), role, directory, bytes);
    };
  }

  private List<String> c(Path ring, String role, String mode, Path directory, String bytes) {
    String file = directory.resolve("ring").toString();
    return List.of(ring.toString(), role, mode, file, bytes, String.valueOf(batch()));
  }

  private List<String> java(List<String> flags, String role, Path directory, String bytes) {
    return JavaCommand.of(flags, IpcMain.class, label, role, directory.toString(), bytes);
  }

  private Placement placement() {
    return label.contains("-v1") ? Placement.V1 : Placement.PADDED;
  }

  private WaitStrategy strategy() {
    return switch (this) {
      case BELFRY_ADAPTIVE, BELFRY_V1_ADAPTIVE -> WaitStrategy.ADAPTIVE;
      case BELFRY_SLEEP, BELFRY_V1_SLEEP -> WaitStrategy.SLEEP;
      default -> WaitStrategy.SPIN;
    };
  }

  /**
   * Opens the end that waits for the other, and runs {@code ready} when the other may attach.
   *
   * @param answers whether it answers each message
   */
  IpcEnd passive(Path directory, int length, boolean answers, Runnable ready) throws Exception {
    switch (this) {
      case AERON -> {
        AeronEnd.startDriver(directory, answers);
        ready.run();
        return new AeronEnd(directory, true, length);
      }
      case UNIX -> {
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
          server.bind(UnixDomainSocketAddress.of(directory.resolve("socket")));
          ready.run();
          return new UnixSocketEnd(server.accept(), length);
        }
      }
      case AGRONA_ONE, AGRONA_MANY, CHRONICLE -> {
        IpcEnd end = mapped(directory, true, length, answers);
        ready.run();
        return end;
      }
      default -> {
        Segment segment = BelfryEnd.create(directory, placement(), answers);
        ready.run();
        return BelfryEnd.passive(segment, strategy(), length, batch());
      }
    }
  }

  /**
   * Opens the end that measures.
   *
   * @param answered whether the other end answers each message
   */
  IpcEnd active(Path directory, int length, boolean answered) throws Exception {
    return switch (this) {
      case AERON -> new AeronEnd(directory, false, length);
      case UNIX ->
          new UnixSocketEnd(
              SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("socket"))), length);
      case AGRONA_ONE, AGRONA_MANY, CHRONICLE -> mapped(directory, false, length, answered);
      default -> BelfryEnd.active(directory, strategy(), length, batch());
    };
  }

  private IpcEnd mapped(Path directory, boolean passive, int length, boolean answered)
      throws Exception {
    return this == CHRONICLE
        ? new ChronicleEnd(directory, passive, length)
        : new AgronaEnd(directory, passive, this == AGRONA_MANY, length, answered);
  }
}
