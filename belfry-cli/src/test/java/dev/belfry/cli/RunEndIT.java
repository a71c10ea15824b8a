package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How a host ends, with real signals and calls under way. */
class RunEndIT {
  /** A call so long that no shutdown waits for it. */
  private static final Duration LONG = Duration.ofSeconds(25);

  /** A call so short that every orderly shutdown waits for it. */
  private static final Duration SHORT = Duration.ofMillis(700);

  @TempDir private Path directory = Path.of("");

  @ParameterizedTest
  @CsvSource({"TERM, 143", "INT, 130", "HUP, 129"})
  void anOrderlyEndFinishesTheCallsUnderWay(String signal, int exitCode) throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      List<ProcessHandle> workers = host.workers();
      var call = host.sleep(SHORT);
      host.program().signal(Signo.parse(signal).orElseThrow());

      assertThat(call.get(60, TimeUnit.SECONDS).body()).isEqualTo("slept 700 ms");
      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(exitCode);
      assertThat(result.err()).contains("how=\"in good order\"");
      assertThat(workers).hasSize(3).noneMatch(ProcessHandle::isAlive);
      try (var left = Files.list(directory.resolve("belfry"))) {
        assertThat(left).extracting(it -> it.getFileName().toString()).containsOnly("admin-token");
      }
    }
  }

  @Test
  void whileItEndsItIsNotReadyAndTakesNoMoreCalls() throws Exception {
    Path config = HostProgram.config(directory, "shutdown: {time_limit: 20s}");
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      assertThat(host.get("/health/ready").statusCode()).isEqualTo(200);
      var call = host.sleep(Duration.ofSeconds(3));
      host.program().signal(Signo.TERM);

      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> host.get("/health/ready").statusCode() == 503);
      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> HostProgram.isFree(host.gateway().getPort()));
      assertThatThrownBy(() -> host.call("echo", "late").get(60, TimeUnit.SECONDS))
          .hasCauseInstanceOf(ConnectException.class);
      assertThat(call.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  @ParameterizedTest
  @CsvSource({"TERM, 143", "INT, 130"})
  void callsThatDoNotEndAreCutOffWithinTheTimeLimit(String signal, int exitCode) throws Exception {
    Path config = HostProgram.config(directory, "shutdown: {time_limit: 8s}");
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      List<ProcessHandle> workers = host.workers();
      var call = host.sleep(LONG);
      var shorter = host.call("sleep", "1500");
      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> shorter.isDone() || host.metric("belfry_calls_in_flight") == 2);
      host.program().signal(Signo.parse(signal).orElseThrow());

      assertThat(shorter.get(60, TimeUnit.SECONDS).body()).isEqualTo("slept 1500 ms");
      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(exitCode);
      assertThat(result.err()).contains("how=\"in good order\""); // and not because time was up
      assertWasCut(call);
      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> workers.stream().noneMatch(ProcessHandle::isAlive));
    }
  }

  @Test
  void interruptTwiceEndsItAtOnce() throws Exception {
    Path config = HostProgram.config(directory, "shutdown: {time_limit: 50s}");
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      List<ProcessHandle> workers = host.workers();
      var call = host.sleep(LONG);
      host.program().signal(Signo.INT);
      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> HostProgram.isFree(host.gateway().getPort()));

      // Eventually two of them arrive within two seconds, however slow the machine is.
      Program.Result result = host.program().signalUntilTheEnd(Signo.INT);
      assertThat(result.exitCode()).isEqualTo(130);
      assertThat(result.err()).contains("Press Ctrl+C again within 2s", "Force quitting");
      assertWasCut(call); // so it has not waited for it
      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> workers.stream().noneMatch(ProcessHandle::isAlive));
    }
  }

  @Test
  void quitEndsItAtOnceAndTellsWhereItsThreadsAre() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      List<ProcessHandle> workers = host.workers();
      var call = host.sleep(LONG);
      host.program().signal(Signo.QUIT);

      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(131);
      assertThat(result.err()).contains("dev.belfry.loop.EventLoop");
      // Regression: the dump closed standard error, and all later output was lost.
      assertThat(result.err()).contains("exit_code=131 how=\"at once\"");
      assertWasCut(call); // so it has not waited for it
      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> workers.stream().noneMatch(ProcessHandle::isAlive));
    }
  }

  /** Regression: shutdown blocked on its own log record until the time limit was reached. */
  @Test
  void aLogThatNobodyReadsStopsNeitherCallsNorTheEnd() throws Exception {
    Path config = HostProgram.config(directory, "shutdown: {time_limit: 50s}");
    Program.Start start = HostProgram.of(directory, config.toString());
    try (HostProgram host = HostProgram.start(start.startWithStuckErr(), directory)) {
      for (int i = 0; i < 500; i++) { // each logs lines, until logging blocks
        host.program().signal(Signo.USR1);
        Thread.sleep(4); // or they would merge into one
      }
      assertThat(host.call("upper", "on").get(60, TimeUnit.SECONDS).body()).isEqualTo("ON");
      var call = host.sleep(Duration.ofSeconds(2));
      long began = System.nanoTime();
      host.program().signal(Signo.TERM);
      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> HostProgram.isFree(host.gateway().getPort()));
      assertThat(call.get(60, TimeUnit.SECONDS).body()).isEqualTo("slept 2000 ms");
      assertThat(host.program().exitCode()).isEqualTo(143);
      assertThat(millisSince(began)).isLessThan(25_000); // half of the time limit
    }
  }

  private static void assertWasCut(CompletableFuture<HttpResponse<String>> call) {
    assertThatThrownBy(() -> call.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }
}
