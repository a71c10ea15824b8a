package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static dev.belfry.workers.Pools.options;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.belfry.shm.Placement;
import dev.belfry.testkit.Descriptors;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class WorkerPoolTest {
  private static final int[] SIZES = {
    0, 1, 28, 29, 64, 92, 93, 1148, 1149, 4096, 65_536, 65_592, 65_593, 65_596, 65_597, 131_072,
    1 << 20, 4 << 20
  };

  @ParameterizedTest
  @CsvSource({"PADDED, 0", "PADDED, 1", "PADDED, 3", "V1, 0"})
  void payloadsOfAllSizesComeBackAsTheyWere(Placement placement, int threads) throws Exception {
    try (WorkerPool pool = open(options(threads).workers(1).spares(0).placement(placement))) {
      var random = new Random(1);
      for (int size : SIZES) {
        byte[] payload = new byte[size];
        random.nextBytes(payload);
        assertThat(pool.call("echo", payload)).as("%d bytes", size).isEqualTo(payload);
      }
    }
  }

  @Test
  void anyKindOfThreadMayCallAndManyAtOnce() throws Exception {
    try (WorkerPool pool = open(options(0).workers(2).spares(0))) {
      for (var factory : List.of(Thread.ofPlatform().factory(), Thread.ofVirtual().factory())) {
        try (var executor = Executors.newThreadPerTaskExecutor(factory)) {
          var answers = new ArrayList<Future<byte[]>>();
          for (int i = 0; i < 300; i++) {
            byte[] payload = bytes("x".repeat(i * 7) + i);
            answers.add(executor.submit(() -> pool.call("echo", payload)));
          }
          for (int i = 0; i < 300; i++) {
            assertThat(answers.get(i).get()).isEqualTo(bytes("x".repeat(i * 7) + i));
          }
        }
      }
      assertThat(pool.status().workers())
          .allSatisfy(worker -> assertThat(worker.finished()).isPositive())
          .allSatisfy(worker -> assertThat(worker.inFlight()).isZero());
    }
  }

  /**
   * A caller that has received its own answer leaves without listening for more. If the next call
   * did not listen either, its answer would be found by the host's polling, 25 ms later on average.
   */
  @Test
  void futuresCompleteAtOnceAlsoAfterCallersThatLookForThemselves() throws Exception {
    try (WorkerPool pool = open(options(1).workers(1).spares(0))) {
      long[] tookNanos = new long[101];
      for (int i = 0; i < tookNanos.length; i++) {
        assertThat(call(pool, "upper", "mine")).isEqualTo("MINE");
        long began = System.nanoTime();
        byte[] answer =
            pool.submit("upper", bytes("theirs"), CallOptions.DEFAULT)
                .get(LONG.toSeconds(), TimeUnit.SECONDS);
        tookNanos[i] = System.nanoTime() - began;
        assertThat(answer).isEqualTo(bytes("THEIRS"));
      }
      Arrays.sort(tookNanos);
      assertThat(Duration.ofNanos(tookNanos[tookNanos.length / 2]))
          .isLessThan(Duration.ofMillis(10));
    }
  }

  @Test
  void whatAWorkerSaysToACallReachesItsCaller() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0))) {
      assertThat(call(pool, "upper", "quiet")).isEqualTo("QUIET");
      assertThatExceptionOfType(MethodFailed.class)
          .isThrownBy(() -> call(pool, "fail", "out of luck"))
          .withMessageContaining("out of luck");
      assertThatExceptionOfType(MethodFailed.class)
          .as("no answer at all")
          .isThrownBy(() -> call(pool, "forget", ""))
          .withMessageContaining("the method returned null");
      assertThatExceptionOfType(UnknownMethod.class)
          .isThrownBy(() -> call(pool, "nothing", ""))
          .withMessage("no worker has a method 'nothing'");
      assertThatExceptionOfType(MethodFailed.class)
          .isThrownBy(() -> call(pool, "bytes", "70000000"))
          .withMessageContaining("67108864");
      assertThatIllegalArgumentException().isThrownBy(() -> pool.call("echo", new byte[67108865]));
      assertThat(call(pool, "upper", "still here")).isEqualTo("STILL HERE");
    }
  }

  /** The caller gets the exception's text; its stack trace used to be lost. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void whereAMethodHasFailedIsInTheOutputOfItsWorker(int threads) throws Exception {
    var told = new Pools.Told();
    try (WorkerPool pool = open(options(threads).workers(1).spares(0).listener(told))) {
      for (int i = 0; i < 50; i++) {
        assertThatExceptionOfType(MethodFailed.class).isThrownBy(() -> call(pool, "fail", "luck"));
      }
      await().until(() -> told.output.stream().anyMatch(line -> line.endsWith("are not shown")));
      assertThat(told.output)
          .contains(
              "sample-1: a call to 'fail' has failed:",
              "sample-1: java.lang.IllegalStateException: luck")
          .anyMatch(line -> line.contains("at dev.belfry.workers.SampleWorker.fail("))
          .filteredOn(line -> line.endsWith("'fail' has failed:"))
          .hasSize(10);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void whatAMethodDoesToItsThreadIsNoMatterOfTheNext(int threads) throws Exception {
    try (WorkerPool pool = open(options(threads).workers(1).spares(0))) {
      String pid = call(pool, "pid", "");
      for (int i = 0; i < 50; i++) { // often enough to count as short and run on the reading thread
        call(pool, "unsettle", "");
      }
      assertThat(call(pool, "sleep", "10")).isEqualTo("slept");
      for (int i = 0; i < 50; i++) {
        assertThatExceptionOfType(MethodFailed.class)
            .as("its exception fails too")
            .isThrownBy(() -> call(pool, "stammer", ""))
            .withMessageContaining(SampleWorker.class.getName());
      }
      assertThat(call(pool, "pid", "")).isEqualTo(pid);
    }
  }

  @Test
  void optionsThatMakeNoSenseAreRefusedAtOnce() {
    PoolOptions options = PoolOptions.of("true");
    Duration negative = Duration.ofMillis(-1);
    List<ThrowingCallable> refused =
        List.of(
            () -> options.recycleAfterCalls(0),
            () -> options.recycleAfter(Duration.ZERO),
            () -> options.restartDelay(negative, Duration.ofSeconds(1)),
            () -> options.restartDelay(Duration.ofSeconds(1), negative),
            () -> options.readyLimit(Duration.ZERO),
            () -> options.stuckLimit(negative),
            () -> options.heartbeat(negative),
            () -> options.callsPerWorker(1 << 29),
            () -> options.environment("NAME=", "value"),
            () -> options.environment("", "value"),
            () -> options.withoutEnvironment("NAME=value"),
            () -> WorkerPool.open(options.workers(253).spares(2)));
    assertThat(refused).allSatisfy(set -> assertThatIllegalArgumentException().isThrownBy(set));
  }

  @Test
  void aCallThatTakesTooLongIsGivenUpAndTheWorkerLives() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0))) {
      String pid = call(pool, "pid", "");
      CallOptions brief = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(100));
      assertThatExceptionOfType(DeadlinePassed.class)
          .isThrownBy(() -> pool.call("sleep", bytes("60000"), brief))
          .withMessage("no answer from 'sleep' within 100 ms");
      assertThat(pool.submit("sleep", bytes("60000"), brief))
          .failsWithin(LONG)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(DeadlinePassed.class);
      Thread.sleep(1_500); // longer than its stuck limit: it was told to stop, and did
      assertThat(call(pool, "pid", "")).isEqualTo(pid);
      assertThat(pool.status().workers().getFirst().inFlight()).isZero();
    }
  }

  /**
   * Workers used to take input meant for their host, or were stopped for reading from a terminal.
   */
  @Test
  void aWorkerHasNothingToReadOnItsStandardInput() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0))) {
      assertThat(call(pool, "listen", "")).isEqualTo("-1");
    }
  }

  @Test
  void aWorkerThatIsStuckIsReplaced() throws Exception {
    var told = new Pools.Told();
    try (WorkerPool pool =
        open(options(1).workers(1).spares(0).stuckLimit(Duration.ofMillis(200)).listener(told))) {
      String pid = call(pool, "pid", "");
      assertThatExceptionOfType(DeadlinePassed.class)
          .isThrownBy(
              () ->
                  pool.call(
                      "hang", bytes(""), CallOptions.DEFAULT.withDeadline(Duration.ofMillis(100))));
      assertThat(call(pool, "pid", "")).isNotEqualTo(pid);
      assertThat(told.deaths)
          .extracting(Death::how)
          .containsExactly(
              "killed by SIGKILL (stuck: it carries on with a call that was given up)");
    }
  }

  @Test
  void cancellingAFutureStopsTheWorker() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0).callsPerWorker(1))) {
      CompletableFuture<byte[]> future = pool.submit("sleep", bytes("60000"), CallOptions.DEFAULT);
      future.cancel(true);
      assertThat(call(pool, "upper", "free again")).isEqualTo("FREE AGAIN");
    }
  }

  /** The call used to go on, and even moved to another worker when its own died. */
  @Test
  void aFutureThatSomebodyElseEndsStopsTheWorkerToo() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0).callsPerWorker(1))) {
      var _ =
          pool.submit("sleep", bytes("60000"), CallOptions.DEFAULT)
              .orTimeout(1, TimeUnit.MILLISECONDS);
      assertThat(call(pool, "upper", "free again")).isEqualTo("FREE AGAIN");
    }
  }

  @Test
  void interruptingACallerStopsTheWorker() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0).callsPerWorker(1))) {
      var interrupted = new CountDownLatch(1);
      Thread caller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      pool.call("sleep", bytes("60000"));
                    } catch (InterruptedException e) {
                      interrupted.countDown();
                    } catch (CallException e) {
                      throw new AssertionError(e);
                    }
                  });
      await().until(() -> pool.status().workers().getFirst().inFlight() == 1);
      await().until(() -> pool.status().workers().getFirst().ringDepth() == 0);
      caller.interrupt();
      assertThat(interrupted.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(call(pool, "upper", "free again")).isEqualTo("FREE AGAIN");
    }
  }

  @Test
  void whenAllAreBusyACallerWaitsOrIsRefused() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0).callsPerWorker(2))) {
      CompletableFuture<byte[]> first = pool.submit("sleep", bytes("700"), CallOptions.DEFAULT);
      CompletableFuture<byte[]> second = pool.submit("sleep", bytes("700"), CallOptions.DEFAULT);
      assertThatExceptionOfType(PoolFull.class)
          .isThrownBy(
              () -> pool.call("echo", bytes(""), CallOptions.DEFAULT.withOverload(Overload.REFUSE)))
          .withMessage("all workers are busy with 2 calls");
      assertThatExceptionOfType(DeadlinePassed.class)
          .isThrownBy(
              () ->
                  pool.call(
                      "echo", bytes(""), CallOptions.DEFAULT.withDeadline(Duration.ofMillis(50))));
      assertThat(call(pool, "upper", "waited")).isEqualTo("WAITED");
      assertThat(first.get()).isEqualTo(bytes("slept"));
      assertThat(second.get()).isEqualTo(bytes("slept"));
    }
  }

  /**
   * While a method runs the worker reads nothing, so a payload in chunks gets stuck in transit, and
   * so does the end of its channel. Channels that were never ended used to be lost, one by one.
   */
  @Test
  void largeCallsThatTakeTooLongUseUpNothing() throws Exception {
    try (WorkerPool pool = open(options(1).workers(1).spares(0).stuckLimit(LONG))) {
      byte[] large = new byte[200 << 10]; // all 127 channels are used before one is reused
      CallOptions brief = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(2));
      int tooLong = 0;
      while (tooLong < 400) {
        CompletableFuture<byte[]> busy = pool.submit("sleep", bytes("8"), CallOptions.DEFAULT);
        try {
          pool.call("echo", large, brief);
        } catch (DeadlinePassed _) {
          tooLong++;
        }
        assertThat(busy).succeedsWithin(LONG);
      }
      assertThat(pool.call("echo", large)).isEqualTo(large);
    }
  }

  @Test
  void whatAWorkerPrintsIsTold() throws Exception {
    var told = new Pools.Told();
    try (WorkerPool pool = open(options(0).workers(1).spares(0).listener(told))) {
      call(pool, "say", "one\ntwo");
      await().until(() -> told.output.size() >= 2);
      assertThat(told.output).containsExactly("sample-1: one", "sample-1: two");
    }
  }

  @Test
  void workersAreReplacedAfterSoManyCalls() throws Exception {
    var told = new Pools.Told();
    try (WorkerPool pool =
        open(options(0).workers(1).spares(1).recycleAfterCalls(10).listener(told))) {
      var pids = new HashSet<String>();
      while (pids.size() < 4) {
        pids.add(call(pool, "pid", ""));
      }
      assertThat(told.deaths).isEmpty();
    }
  }

  @Test
  void closingFinishesWhatIsUnderWayAndLeavesNothing() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0))) {
      call(pool, "upper", "warm up");
    }
    Descriptors before = Descriptors.now();
    long children = ProcessHandle.current().children().count();
    CompletableFuture<byte[]> late;
    WorkerPool pool = open(options(0).workers(2).spares(1));
    late = pool.submit("sleep", bytes("500"), CallOptions.DEFAULT);
    pool.close();
    assertThat(new String(late.get(), UTF_8)).isEqualTo("slept");
    assertThatExceptionOfType(PoolClosed.class).isThrownBy(() -> call(pool, "echo", ""));
    assertThat(ProcessHandle.current().children().count()).isEqualTo(children);
    assertThat(before.openedSince()).isEmpty();
  }

  /** A worker that went on would only be waited for, and then killed. */
  @Test
  void closingStopsCallsThatHaveHadTheirTime(@TempDir Path directory) throws Exception {
    Path stopped = directory.resolve("stopped");
    WorkerPool pool = open(options(0).workers(1).spares(0));
    StartedCall call = pool.start("doze", bytes(stopped.toString()), CallOptions.DEFAULT);
    pool.close(Duration.ofSeconds(2));
    assertThatExceptionOfType(PoolClosed.class).isThrownBy(call::await);
    assertThat(stopped).exists();
  }

  /**
   * An interrupted thread does not wait, but leaves behind neither processes nor calls that never
   * end.
   */
  @Test
  void closingOnAnInterruptedThreadEndsEverythingAtOnce() throws Exception {
    long children = ProcessHandle.current().children().count();
    WorkerPool pool = open(options(0).workers(1).spares(0));
    CompletableFuture<byte[]> future = pool.submit("sleep", bytes("60000"), CallOptions.DEFAULT);
    StartedCall answer = pool.start("sleep", bytes("60000"), CallOptions.DEFAULT);
    await().until(() -> Pools.inFlight(pool) == 2);
    Thread.currentThread().interrupt();
    pool.close(LONG);
    assertThat(Thread.interrupted()).isTrue();
    assertThatExceptionOfType(PoolClosed.class).isThrownBy(answer::await);
    assertThat(future)
        .failsWithin(LONG)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(PoolClosed.class);
    assertThat(ProcessHandle.current().children().count()).isEqualTo(children);
  }
}
