package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workers that are replaced because they have served long enough. */
@Timeout(120)
final class RecyclingTest extends QuickWorkers {
  @Test
  void aWorkerIsReplacedWhenItIsOldEnough() throws Exception {
    try (WorkerPool pool = open(options().recycleAfter(Duration.ofMillis(300)))) {
      int first = pid(pool);
      await().until(() -> pid(pool) != first);
      assertThat(pool.status().deaths()).as("that is no death").isZero();
    }
    assertThat(told.deaths).isEmpty();
  }

  @Test
  void aWorkerThatStartsMoreSlowlyThanItAgesIsReplacedToo() throws Exception {
    String slowly = "sleep 0.6";
    try (WorkerPool pool = open(after(slowly).recycleAfter(Duration.ofMillis(300)))) {
      int first = pid(pool);
      await().until(() -> pid(pool) != first);
    }
  }

  @Test
  void aWorkerThatIsOldEnoughServesOnUntilAnotherCan() throws Exception {
    Path broken = directory.resolve("broken"); // from the second start on
    String unlessBroken = "test -e %s && exit 9; touch %s".formatted(broken, broken);
    try (WorkerPool pool =
        open(
            after(unlessBroken)
                .crashLimit(2)
                .restartDelay(Duration.ofMillis(10), Duration.ofMillis(10))
                .recycleAfter(Duration.ofMillis(300)))) {
      int first = pid(pool);
      await()
          .until(
              () -> {
                assertThat(pid(pool)).isEqualTo(first);
                return !told.circuits.isEmpty();
              });
      assertThat(pid(pool)).isEqualTo(first);
      Files.delete(broken);
      pool.reset();
      await().until(() -> pid(pool) != first);
    }
  }

  /** It still serves while its successor starts, so if it dies then, that is a death. */
  @Test
  void theDeathOfAWorkerThatIsOldEnoughIsADeath() throws Exception {
    Path slow = directory.resolve("slow"); // from the second start on
    String slowly = "while test -e %s; do sleep 0.05; done; touch %s".formatted(slow, slow);
    try (WorkerPool pool = open(after(slowly).recycleAfter(Duration.ofMillis(300)))) {
      int first = pid(pool);
      await().until(() -> pool.status().workers().size() == 2);
      Pools.kill(first, Signo.KILL);
      await().until(() -> told.deaths.size() == 1);
      Files.delete(slow);
      assertThat(pid(pool)).isNotEqualTo(first);
    }
  }

  /** It was told to leave, but has not yet: its last call fails with it. */
  @Test
  void theDeathOfAWorkerThatIsAboutToLeaveIsADeath() throws Exception {
    try (WorkerPool pool = open(options().recycleAfter(Duration.ofMillis(300)))) {
      int first = pid(pool);
      var last =
          pool.submit(
              "sleep", bytes("60000"), CallOptions.DEFAULT.withDelivery(Delivery.AT_MOST_ONCE));
      await()
          .until(
              () -> pool.status().workers().stream().anyMatch(it -> it.state().equals("retiring")));
      Pools.kill(first, Signo.KILL);
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(last::get)
          .withCauseInstanceOf(WorkerDied.class);
      await().until(() -> told.deaths.size() == 1);
    }
  }

  /** Its own threads keep a JVM alive although the worker in it has left. */
  @Test
  void theProcessOfAWorkerThatHasLeftEnds() throws Exception {
    PoolOptions options =
        Pools.options(0)
            .workers(1)
            .spares(0)
            .listener(told)
            .environment("SAMPLE_LINGERS", "yes")
            .recycleAfterCalls(3);
    try (WorkerPool pool = open(options)) {
      int first = pid(pool);
      await().until(() -> pid(pool) != first);
      await().until(() -> !isRunning(first));
    }
    assertThat(told.deaths).as("it had left").isEmpty();
  }

  /** It used to stay, with its process, its memory and its entry in the segment. */
  @Test
  void aWorkerThatDoesNotLeaveIsEnded() throws Exception {
    PoolOptions options = options().heartbeat(Duration.ZERO).recycleAfter(Duration.ofSeconds(1));
    try (WorkerPool pool = open(options)) {
      Pools.stop(pid(pool));
      await().atMost(LONG).until(() -> told.deaths.size() == 1);
      assertThat(told.deaths.getFirst().worker()).isEqualTo("worker-1");
      assertThat(told.deaths.getFirst().how())
          .isEqualTo("killed by SIGKILL (it was told to leave, and did not)");
    }
  }

  /** There used to be ten warnings a second for each worker that had to wait. */
  @Test
  void whenAllAreOldEnoughAtOnceAllAreReplacedWithoutAFuss() throws Exception {
    int count = 30;
    try (var warnings = new Warnings(Supervisor.class);
        WorkerPool pool =
            open(options().workers(count).recycleAfter(Duration.ofSeconds(1)).listener(told))) {
      List<Integer> first =
          pool.status().workers().stream().map(PoolStatus.WorkerStatus::pid).toList();
      await().atMost(LONG).until(() -> first.stream().noneMatch(QuickWorkers::isRunning));
      assertThat(call(pool, "upper", "all there")).isEqualTo("ALL THERE");
      assertThat(warnings.texts).isEmpty();
    }
    assertThat(told.deaths).isEmpty();
  }

  /** Were they all to leave after as many calls, all would be replaced at once. */
  @Test
  void workersAreReplacedAfterDifferentNumbersOfCalls() throws Exception {
    int workers = 8;
    int calls = 100;
    try (Supervised all = Supervised.start(options().workers(workers).recycleAfterCalls(calls))) {
      await().until(() -> all.supervisor().crew().active().length == workers);
      List<PooledWorker> first = List.of(all.supervisor().crew().active());
      for (PooledWorker worker : first) {
        for (int i = 0; i < calls; i++) {
          assertThat(answers(all, worker)).isTrue();
        }
      }
      settle(all);
      assertThat(first).as("not all are to be replaced yet").anyMatch(it -> !isUnwanted(all, it));
      for (PooledWorker worker : first) {
        for (int i = 0; i < calls / 10 && answers(all, worker); i++) {}
      }
      settle(all);
      assertThat(first).as("now they are").allMatch(it -> isUnwanted(all, it));
    }
  }

  /** Makes a call and awaits its answer; returns false if the worker takes no more calls. */
  private static boolean answers(Supervised all, PooledWorker worker) {
    var answer = new CompletableFuture<byte[]>();
    var call =
        new Call(
            "upper",
            Protocol.methodId("upper"),
            bytes("x"),
            CallOptions.DEFAULT,
            null,
            answer,
            all.meter());
    boolean isTaken = worker.calls().offer(call);
    if (isTaken) {
      assertThat(answer).succeedsWithin(LONG);
    }
    return isTaken;
  }

  /** Waits until the loop has handled the last answer, and then what that has led to. */
  private static void settle(Supervised all) {
    onLoop(all, () -> true);
    onLoop(all, () -> true);
  }

  private static boolean isUnwanted(Supervised all, PooledWorker worker) {
    return onLoop(
        all, () -> all.supervisor().crew().processOf(worker).map(it -> it.unwanted).orElse(true));
  }

  private static boolean onLoop(Supervised all, Supplier<Boolean> action) {
    return CompletableFuture.supplyAsync(action, all.host().loop().scheduler()).join();
  }
}
