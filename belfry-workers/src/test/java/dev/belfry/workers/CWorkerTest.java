package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.shm.Placement;
import dev.belfry.testkit.TestProcess;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pool whose workers are the C program that users get as an example. */
@Timeout(120)
final class CWorkerTest {
  @TempDir private static Path directory;
  private static Path worker;

  @BeforeAll
  static void compile() throws Exception {
    worker = CWorkers.example(directory, CWorkers.SANITIZED);
  }

  private static PoolOptions options() {
    return PoolOptions.of(worker.toString())
        .name("c")
        .workers(1)
        .spares(1)
        .environment("ASAN_OPTIONS", "detect_leaks=0"); // it fails if it cannot stop threads
  }

  private static byte[] random(int seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Test
  void theProtocolIsTheSameInC() throws Exception {
    for (String name : List.of("vectors.c", ProtocolTest.VECTORS)) {
      try (InputStream resource = CWorkerTest.class.getResourceAsStream(name)) {
        Files.write(directory.resolve(name), Objects.requireNonNull(resource, name).readAllBytes());
      }
    }
    Path program =
        CWorkers.compile(
            directory.resolve("vectors"), directory.resolve("vectors.c"), CWorkers.SANITIZED);
    long expected =
        ProtocolTest.vectors().stream()
            .mapToInt(
                vector ->
                    switch (vector.what()) {
                      case "hello" -> 2;
                      case "method", "request", "no-request", "answer", "status" -> 1;
                      default -> 0;
                    })
            .sum();
    try (TestProcess process =
        TestProcess.start(program.toString(), directory.resolve(ProtocolTest.VECTORS).toString())) {
      assertThat(process.line()).isEqualTo(expected + " checks, 0 wrong");
      assertThat(process.exitCode()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(Placement.class)
  void callsOfAnySizeAreAnswered(Placement placement) throws Exception {
    try (WorkerPool pool = Pools.open(options().placement(placement))) {
      assertThat(call(pool, "upper", "hello")).isEqualTo("HELLO");
      for (int size : new int[] {0, 1, 64, 4000, 70_000, 1 << 20, 4 << 20}) {
        byte[] payload = random(size, size);
        assertThat(Arrays.equals(pool.call("echo", payload), payload)).as("%d", size).isTrue();
      }
    }
  }

  @Test
  void manyCallAtTheSameTime() throws Exception {
    try (WorkerPool pool = Pools.open(options().workers(2).spares(0));
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Boolean>> calls =
          IntStream.range(0, 16)
              .mapToObj(
                  caller ->
                      callers.submit(
                          () -> {
                            boolean right = true;
                            for (int i = 0; i < 10; i++) {
                              byte[] payload = random(i, i % 3 == 0 ? 300_000 + caller : 100 * i);
                              right &= Arrays.equals(pool.call("echo", payload), payload);
                            }
                            return right;
                          }))
              .toList();
      for (Future<Boolean> each : calls) {
        assertThat(each.get()).isTrue();
      }
    }
  }

  @Test
  void failuresAreAnswersToo() throws Exception {
    try (WorkerPool pool = Pools.open(options())) {
      assertThatExceptionOfType(MethodFailed.class)
          .isThrownBy(() -> call(pool, "fail", ""))
          .withMessage("as it should");
      assertThatExceptionOfType(UnknownMethod.class).isThrownBy(() -> call(pool, "nothing", ""));
      assertThat(pool.status().deaths()).isZero();
    }
  }

  /** The duration used to overflow, and the sanitizer aborted the worker. */
  @Test
  void aTimeLongAgoIsOver() throws Exception {
    try (WorkerPool pool = Pools.open(options().attempts(1))) {
      assertThat(call(pool, "sleep", "-99999999999999")).isEqualTo("slept");
    }
  }

  @Test
  void aCallThatNobodyWaitsForIsGivenUp() throws Exception {
    try (WorkerPool pool = Pools.open(options().spares(0))) {
      String pid = call(pool, "pid", "");
      CallOptions hasty = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(100));
      assertThatExceptionOfType(DeadlinePassed.class)
          .isThrownBy(() -> pool.call("sleep", bytes("60000"), hasty));
      CompletableFuture<byte[]> cancelled =
          pool.submit("sleep", bytes("60000"), CallOptions.DEFAULT);
      CompletableFuture<byte[]> behind = pool.submit("echo", bytes("x"), CallOptions.DEFAULT);
      await().until(() -> Pools.inFlight(pool) == 2);
      cancelled.cancel(true);
      assertThat(behind).succeedsWithin(LONG);
      assertThat(call(pool, "pid", "")).as("it was not killed").isEqualTo(pid);
    }
  }

  @Test
  void aWorkerKilledInACallCostsOnlyWhatMustNotBeDoneTwice() throws Exception {
    try (WorkerPool pool = Pools.open(options())) {
      CompletableFuture<byte[]> twice = pool.submit("sleep", bytes("1000"), CallOptions.DEFAULT);
      CompletableFuture<byte[]> once =
          pool.submit(
              "sleep", bytes("60000"), CallOptions.DEFAULT.withDelivery(Delivery.AT_MOST_ONCE));
      await().until(() -> Pools.inFlight(pool) == 2);
      int pid =
          pool.status().workers().stream()
              .filter(it -> it.inFlight() == 2)
              .mapToInt(PoolStatus.WorkerStatus::pid)
              .findFirst()
              .orElseThrow();
      Processes.kill(Sys.forAnyThread(), pid, Signo.KILL);
      assertThat(once)
          .failsWithin(LONG)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(WorkerDied.class)
          .withMessageContaining("killed by SIGKILL");
      assertThat(twice).succeedsWithin(LONG).isEqualTo(bytes("slept"));
    }
  }

  @Test
  void aWorkerThatCrashesLeavesItsLastWords() throws Exception {
    try (WorkerPool pool = Pools.open(options().attempts(1))) {
      assertThatExceptionOfType(DeadLetter.class)
          .isThrownBy(() -> call(pool, "crash", ""))
          .withMessageMatching("a call to 'crash' was given to c-[12], which died: .+")
          .satisfies(letter -> assertThat(letter.death().errorTail()).contains("about to crash"));
    }
  }

  @Test
  void workersEndWithZeroWhenThePoolSaysGoodbye() throws Exception {
    var told = new Pools.Told();
    try (WorkerPool pool = Pools.open(options().recycleAfterCalls(5).listener(told))) {
      for (int i = 0; i < 40; i++) {
        call(pool, "echo", "");
      }
      await().until(() -> isNobodyOnTheWay(pool)); // or one that comes late would complain
      assertThat(pool.status().deaths()).isZero();
    }
    assertThat(told.deaths).isEmpty();
    assertThat(told.output).as("nobody complained").isEmpty();
  }

  private static boolean isNobodyOnTheWay(WorkerPool pool) {
    return pool.status().workers().stream()
        .map(PoolStatus.WorkerStatus::state)
        .sorted()
        .toList()
        .equals(List.of("ready", "spare"));
  }
}
