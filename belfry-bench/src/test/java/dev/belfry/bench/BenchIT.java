package dev.belfry.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.Backend;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Runs the packaged benchmarks as the launcher does. */
class BenchIT {
  private static final Path TARGET =
      Path.of(System.getProperty("belfry.root"), "belfry-bench", "target");

  @TempDir private Path directory;

  private record Run(int exitCode, String output) {}

  private Run bench(String... arguments) throws IOException, InterruptedException {
    Path output = directory.resolve("output");
    Process process = start(output, arguments);
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ends in time").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Run(process.exitValue(), Files.readString(output));
  }

  private static Process start(Path output, String... arguments) throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(
        List.of("-cp", TARGET.resolve("belfry-bench.jar") + ":" + TARGET.resolve("lib") + "/*"));
    command.add(Main.class.getName());
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }

  private JsonNode report(String bench, String contenders)
      throws IOException, InterruptedException {
    Path json = directory.resolve(bench + ".json");
    Run run =
        bench(
            bench,
            "--quick",
            "--rounds=1",
            "--seconds=0.05",
            "--only=" + contenders,
            "--json=" + json);
    assertThat(run.exitCode()).as(run.output()).isZero();
    assertThat(run.output()).contains(contenders.split(","));
    return JsonMapper.shared().readTree(json);
  }

  @Test
  void echoMeasuresBelfryAgainstC() throws Exception {
    JsonNode report = report("echo", "belfry-callback,c");

    assertThat(report.size()).isEqualTo(2 * 3);
    for (JsonNode entry : report) {
      assertThat(entry.at("/bench").asString()).isEqualTo("echo");
      assertThat(entry.at("/contender").asString()).isIn("belfry-callback", "c");
      assertThat(entry.at("/params/connections").asInt()).isIn(1, 16, 128);
      assertThat(entry.at("/metrics/messagesPerSecond/median").asDouble()).isGreaterThan(100);
      assertThat(entry.at("/metrics/serverCpuNanosPerMessage/median").asDouble()).isPositive();
    }
  }

  @Test
  void filesAreReadThroughTheLoopAndThroughAChannel() throws Exception {
    List<String> contenders =
        Stream.of("belfry-io_uring", "belfry-epoll", "file-channel")
            .skip(Backend.IO_URING.isAvailable() ? 0 : 1)
            .toList();
    JsonNode report = report("files", String.join(",", contenders));

    assertThat(report.size()).isEqualTo(contenders.size() * 2);
    for (JsonNode entry : report) {
      assertThat(entry.at("/params/cache").asString()).isIn("cached", "direct");
      assertThat(entry.at("/metrics/readsPerSecond/median").asDouble()).isGreaterThan(10);
    }
  }

  @Test
  void timersMeasureLatenessAgainstABareWait() throws Exception {
    JsonNode report = report("timers", "bare-wait,bare-wait-c");

    assertThat(report.size()).isEqualTo(2);
    for (JsonNode entry : report) {
      assertThat(entry.at("/params/workload").asString()).isEqualTo("lateness");
      assertThat(entry.at("/metrics/latenessP99Nanos/median").asDouble()).isPositive();
      assertThat(entry.at("/metrics/early/max").asDouble()).isZero();
    }
  }

  @Test
  void deathIsNoticedByEveryWatcher() throws Exception {
    JsonNode report = report("death", "belfry,pidfd-c,socket-c,ProcessHandle.onExit");

    assertThat(report.size()).isEqualTo(4);
    for (JsonNode entry : report) {
      assertThat(entry.at("/params/worker").asString()).isEqualTo("c");
      assertThat(entry.at("/metrics/noticeNanos/median").asDouble()).isPositive();
    }
  }

  @Test
  void doorbellsWakeEveryListener() throws Exception {
    JsonNode report = report("doorbell", "belfry,belfry-loop,eventfd-c,pipe-c,socket-c");

    assertThat(report.size()).isEqualTo(5);
    for (JsonNode entry : report) {
      assertThat(entry.at("/metrics/latencyP50Nanos/median").asDouble()).isPositive();
    }
  }

  @Test
  void signalsReachEveryReceiverAndNoneIsLost() throws Exception {
    JsonNode report = report("signal", "belfry-callback,belfry-await,sun.misc.Signal,c");

    assertThat(report.size()).isEqualTo(3 * 3 + 1); // the JDK supports standard signals only
    for (JsonNode entry : report) {
      assertThat(entry.at("/params/workload").asString()).isIn("paced", "burst", "flood");
      assertThat(entry.at("/metrics/latencyP50Nanos/median").asDouble()).isGreaterThan(500);
      assertThat(entry.at("/metrics/lost/max").asDouble()).isZero();
      assertThat(entry.at("/metrics/outOfOrder/max").asDouble()).isZero();
    }
  }

  @Test
  void messagesBetweenProcessesAreMeasuredAgainstC() throws Exception {
    JsonNode roundTrips = report("ipc-rtt", "belfry-spin,agrona-one-to-one,c-spin");
    assertThat(roundTrips.size()).isEqualTo(3);
    for (JsonNode entry : roundTrips) {
      assertThat(entry.at("/params/messageBytes").asInt()).isEqualTo(32);
      assertThat(entry.at("/metrics/roundTripNanos/median").asDouble()).isPositive();
    }
    JsonNode rates = report("ipc-throughput", "belfry-batch,aeron,c-batch");
    assertThat(rates.size()).isEqualTo(3);
    for (JsonNode entry : rates) {
      assertThat(entry.at("/metrics/messagesPerSecond/median").asDouble()).isGreaterThan(1000);
    }
  }

  @Test
  void callsAreMeasuredAgainstTheirPeersAndDrawn() throws Exception {
    String ways = "belfry,belfry-default,unix-socket,netty,grpc,executor";
    JsonNode report = report("call", ways + ",belfry-pipeline,ring");

    assertThat(report.size()).isEqualTo(6 * 7 + 2 * 2); // pipelines: no rate, no long ones
    for (JsonNode entry : report) {
      assertThat(entry.at("/params/callers").asInt()).isIn(1, 8);
      assertThat(entry.at("/metrics/callsPerSecond/median").asDouble()).isPositive();
      assertThat(entry.at("/metrics/latencyP50Nanos/median").asDouble()).isPositive();
    }
    Run plot = bench("--plot", directory.toString());
    assertThat(plot.exitCode()).as(plot.output()).isZero();
    assertThat(directory.resolve("call-callsPerSecond.svg")).content().contains("belfry", "grpc");
  }

  @Test
  void noCallIsLostOrDoneTwiceWhenWorkersAreKilled() throws Exception {
    JsonNode report = report("crash", "belfry");

    assertThat(report.size()).isEqualTo(2);
    for (JsonNode entry : report) {
      assertThat(entry.at("/params/delivery").asString()).isIn("at-least-once", "at-most-once");
      assertThat(entry.at("/metrics/calls/median").asDouble()).isGreaterThan(100);
      assertThat(entry.at("/metrics/lost/max").asDouble()).isZero();
      assertThat(entry.at("/metrics/withoutEffect/max").asDouble()).isZero();
    }
    assertThat(report.at("/1/metrics/duplicates/max").asDouble()).isZero();
  }

  @Test
  void fullLoadWithKillsIsReportedByTheMinute() throws Exception {
    Path json = directory.resolve("soak.json");
    Run run = bench("crash", "--minutes=2", "--seconds=2", "--json=" + json);

    assertThat(run.exitCode()).as(run.output()).isZero();
    JsonNode metrics = JsonMapper.shared().readTree(json).at("/0/metrics");
    assertThat(metrics.at("/callsPerSecond/samples").size()).isEqualTo(2);
    assertThat(metrics.at("/callsPerSecond/max").asDouble()).isPositive();
    assertThat(metrics.at("/deaths/max").asDouble()).isPositive();
    assertThat(metrics.at("/descriptors/min").asDouble()).isPositive();
  }

  /** The measuring process used to go on for ever, at a ring that was no longer read. */
  @ParameterizedTest
  @ValueSource(strings = {"belfry-spin", "c-spin"})
  void noContenderIsLeftBehindByABenchmarkThatIsKilled(String contender) throws Exception {
    Process bench =
        start(
            directory.resolve("output"),
            "ipc-throughput",
            "--quick",
            "--seconds=600",
            "--only=" + contender);
    List<ProcessHandle> contenders = List.of();
    try {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (contenders.isEmpty()) {
        assertThat(System.nanoTime()).as("measures in time").isLessThan(deadline);
        contenders = measuring(bench);
        Thread.sleep(20);
      }
    } finally {
      bench.destroyForcibly();
    }
    for (ProcessHandle left : contenders) {
      try {
        assertThat(left.onExit()).succeedsWithin(Duration.ofSeconds(20));
      } finally {
        left.destroyForcibly();
      }
    }
  }

  /**
   * Both processes of a contender, once each has been busy for longer than a start takes. Others,
   * such as a compiler, may end in the meantime.
   */
  private static List<ProcessHandle> measuring(Process bench) {
    List<ProcessHandle> busy =
        bench
            .children()
            .filter(it -> it.info().totalCpuDuration().orElse(Duration.ZERO).toSeconds() >= 2)
            .toList();
    return busy.size() < 2 ? List.of() : busy;
  }

  @Test
  void anUnknownContenderIsRefusedWithTheNamesOfTheOthers() throws Exception {
    Run run = bench("echo", "--quick", "--only=nobody");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.output()).contains("no contender nobody").contains("belfry-callback");
  }
}
