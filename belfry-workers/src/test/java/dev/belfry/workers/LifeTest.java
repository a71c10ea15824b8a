package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import dev.belfry.shm.Placement;
import dev.belfry.testkit.TestProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How workers live and how they end. */
@Timeout(120)
final class LifeTest extends QuickWorkers {
  /**
   * Starts may fail now and then, weeks apart, with successful ones in between: they must not add
   * up.
   */
  @Test
  void startsThatFailAreNoRowIfThoseInBetweenServe() throws Exception {
    Path good = directory.resolve("good"); // after the last start
    String everyOther = "test -e %1$s && rm %1$s && exit 9; touch %1$s".formatted(good);
    try (WorkerPool pool =
        open(
            after(everyOther)
                .crashLimit(2)
                .restartDelay(Duration.ofMillis(10), Duration.ofMillis(10))
                .recycleAfterCalls(3))) {
      await()
          .until(
              () -> {
                pid(pool);
                return told.deaths.size() >= 5 || !told.circuits.isEmpty();
              });
      assertThat(told.circuits).isEmpty();
    }
  }

  @Test
  void aWorkerThatIsThereForAWhileEndsTheRowThoughNobodyCalls() throws Exception {
    Path broken = Files.createFile(directory.resolve("broken-once"));
    String once = "test -e %1$s && rm %1$s && exit 9".formatted(broken);
    try (WorkerPool pool = open(after(once))) {
      assertThat(told.deaths).hasSize(1);
      await().until(() -> pool.status().deathsInARow() == 0);
    }
  }

  /** They used to overflow: no worker was restarted, nor waited for. */
  @Test
  void limitsMayBeForEver() throws Exception {
    Duration forEver = ChronoUnit.FOREVER.getDuration();
    PoolOptions options =
        options()
            .restartDelay(Duration.ofMillis(10), forEver)
            .readyLimit(forEver)
            .stuckLimit(forEver)
            .heartbeat(forEver)
            .recycleAfter(forEver);
    try (WorkerPool pool = WorkerPool.open(options)) {
      assertThat(pool.awaitReady(forEver)).isTrue();
      Pools.kill(pool.status().workers().getFirst().pid(), Signo.KILL);
      await().until(() -> told.deaths.size() == 1);
      assertThat(pool.awaitReady(forEver)).isTrue();
      assertThat(call(pool, "upper", "next")).isEqualTo("NEXT");
      assertThat(pool.drain(forEver)).isTrue();
      pool.close(forEver);
    }
  }

  /** Options set for the next pool used to affect the workers that the first one restarted. */
  @Test
  void aPoolKeepsToTheOptionsItWasOpenedWith() throws Exception {
    PoolOptions options = after("echo shard $SHARD").environment("SHARD", "1");
    try (WorkerPool pool = open(options)) {
      options.name("another").environment("SHARD", "2");
      Pools.kill(pid(pool), Signo.KILL);
      await().until(() -> told.output.size() == 2);
      assertThat(told.output).containsExactly("worker-1: shard 1", "worker-2: shard 1");
    }
  }

  /** A child of the worker held the pipe open, so the last line was neither ended nor reported. */
  @Test
  void whatAWorkerSaidLastIsToldThoughItsPipeStaysOpen() throws Exception {
    String script = "sleep 3 & printf 'no more' >&2; exit 9";
    try (WorkerPool _ = WorkerPool.open(options("sh", "-c", script).crashLimit(1))) {
      await().until(() -> told.deaths.size() == 1);
      assertThat(told.deaths.getFirst().errorTail()).isEqualTo("no more");
      assertThat(told.output).containsExactly("worker-1: no more");
    }
  }

  /**
   * A line of exactly that length used to be followed by an empty one, and a character could be cut
   * in two.
   */
  @Test
  void aLineThatIsVeryLongIsToldInPieces() throws Exception {
    String script = "printf '%8192d\\nnext\\n' 1; printf '%8191dü€\\n' 2";
    try (WorkerPool _ = open(after(script))) {
      await().until(() -> told.output.size() >= 4);
      assertThat(told.output)
          .extracting(line -> line.substring("worker-1: ".length()).strip())
          .containsExactly("1", "next", "2", "ü€");
    }
  }

  /** Callers used to be told that there was no answer, as if a worker had been asked. */
  @Test
  void whoGetsNoWorkerInTimeIsToldSo() throws Exception {
    CallOptions brief = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(100));
    try (WorkerPool pool = WorkerPool.open(after("sleep 3600"))) {
      assertThatExceptionOfType(DeadlinePassed.class)
          .isThrownBy(() -> pool.call("upper", bytes("x"), brief))
          .withMessage("no worker was ready for 'upper' within 100 ms");
      pool.close(Duration.ZERO);
    }
    try (WorkerPool pool = open(options().callsPerWorker(1))) {
      CompletableFuture<byte[]> busy = pool.submit("sleep", bytes("60000"));
      assertThatExceptionOfType(DeadlinePassed.class)
          .isThrownBy(() -> pool.call("upper", bytes("x"), brief))
          .withMessage("no worker had room for 'upper' within 100 ms");
      busy.cancel(true);
    }
  }

  /**
   * Threads that waited for workers used to wait on, and a thread that closed the pool late got an
   * exception.
   */
  @Test
  void aPoolThatIsClosedKeepsNobodyWaiting() throws Exception {
    WorkerPool pool = WorkerPool.open(after("sleep 3600"));
    CompletableFuture<Boolean> ready = CompletableFuture.supplyAsync(() -> isReady(pool));
    await().until(() -> !pool.status().workers().isEmpty());
    pool.close(Duration.ofSeconds(-10));
    assertThat(ready).succeedsWithin(LONG).isEqualTo(false);
  }

  private static boolean isReady(WorkerPool pool) {
    try {
      return pool.awaitReady(ChronoUnit.FOREVER.getDuration());
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts it", e);
    }
  }

  @Test
  void aWorkerThatStandsStillIsReplacedWhenItsCallIsOverdue() throws Exception {
    PoolOptions options = options().heartbeat(Duration.ZERO).stuckLimit(Duration.ofMillis(100));
    try (WorkerPool pool = open(options)) {
      int stopped = pid(pool);
      Pools.stop(stopped);
      assertThatExceptionOfType(DeadlinePassed.class)
          .isThrownBy(
              () ->
                  pool.call(
                      "echo",
                      bytes("x"),
                      CallOptions.DEFAULT.withDeadline(Duration.ofMillis(200))));
      assertThat(pid(pool)).isNotEqualTo(stopped);
      await().until(() -> told.deaths.size() == 1);
      assertThat(told.deaths.getFirst().pid()).isEqualTo(stopped);
      assertThat(told.deaths.getFirst().exitCode()).isEqualTo(137);
    }
  }

  @Test
  void aWorkerThatShowsNoSignOfLifeIsReplacedThoughNobodyCalls() throws Exception {
    try (WorkerPool pool = open(options().heartbeat(Duration.ofMillis(500)))) {
      int stopped = pid(pool);
      Pools.stop(stopped);
      await().until(() -> told.deaths.size() == 1);
      assertThat(told.deaths.getFirst().pid()).isEqualTo(stopped);
      assertThat(pid(pool)).isNotEqualTo(stopped);
    }
  }

  @ParameterizedTest
  @EnumSource(Placement.class)
  void inEitherPlacementADeathIsSeenAndItsCallsGoOnAsTheyShould(Placement placement)
      throws Exception {
    try (WorkerPool pool = open(options().spares(1).placement(placement))) {
      int first = pid(pool);
      CompletableFuture<byte[]> twice = pool.submit("sleep", bytes("500"), CallOptions.DEFAULT);
      CompletableFuture<byte[]> once =
          pool.submit(
              "sleep", bytes("60000"), CallOptions.DEFAULT.withDelivery(Delivery.AT_MOST_ONCE));
      await().until(() -> Pools.inFlight(pool) == 2);
      Pools.kill(first, Signo.KILL);
      assertThat(once)
          .failsWithin(LONG)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(WorkerDied.class);
      assertThat(twice).succeedsWithin(LONG).isEqualTo(bytes("slept"));
      assertThat(pid(pool)).isNotEqualTo(first);
    }
  }

  @Test
  void whenAllDieAtOnceAllAreReplaced() throws Exception {
    int count = 30;
    PoolOptions options =
        options()
            .workers(count)
            .crashLimit(1000) // they die before serving
            .restartDelay(Duration.ofMillis(10), Duration.ofMillis(10));
    try (WorkerPool pool = open(options)) {
      List<Integer> first =
          pool.status().workers().stream().map(PoolStatus.WorkerStatus::pid).toList();
      assertThat(first).hasSize(count);
      // More than there are spare entries, so that some must wait until the dead are removed.
      for (int pid : first) {
        Pools.kill(pid, Signo.KILL);
      }
      await().until(() -> told.deaths.size() == count);
      assertThat(pool.awaitReady(LONG)).isTrue();
      assertThat(pool.status().workers()).hasSize(count).noneMatch(it -> first.contains(it.pid()));
      assertThat(call(pool, "upper", "all there")).isEqualTo("ALL THERE");
    }
  }

  @Test
  void workersDieWithThePoolsProcess() throws Exception {
    var pids = new ArrayList<Integer>();
    try (TestProcess host = TestProcess.java(PoolProgram.class, worker.toString())) {
      for (int i = 0; i < 3; i++) {
        pids.add(Integer.parseInt(host.line("worker ")));
      }
      assertThat(pids).allMatch(QuickWorkers::isRunning);
      host.kill();
    }
    await().until(() -> pids.stream().noneMatch(QuickWorkers::isRunning));
  }

  /**
   * The workers had taken the last descriptors before the first call. The JDK, which reads a file
   * for its first digest, then failed all digests, and no call could be made any more.
   */
  @Test
  void aPoolWhoseWorkersTookTheLastDescriptorsKnowsItsMethods() throws Exception {
    try (TestProcess program = TestProcess.java(WithoutDescriptors.class)) {
      assertThat(program.line("number ")).isEqualTo("9e550ef8e8792c09");
    }
  }
}
