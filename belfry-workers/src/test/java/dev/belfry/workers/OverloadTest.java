package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.inFlight;
import static dev.belfry.workers.Pools.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import dev.belfry.shm.Placement;
import dev.belfry.shm.SegmentConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** More calls than the workers can handle: which of them get a turn, and whose fault it is. */
@Timeout(120)
final class OverloadTest {
  /** The size of a call that needs a slot, of which there are sixteen. */
  private static final int SLOTFUL = 2000;

  private static final CallOptions REFUSE = CallOptions.DEFAULT.withOverload(Overload.REFUSE);

  @TempDir private static Path directory;
  private static Path worker;

  private final Pools.Told told = new Pools.Told();

  @BeforeAll
  static void compile() throws Exception {
    worker = CWorkers.example(directory);
  }

  private PoolOptions options() {
    return PoolOptions.of(worker.toString()).workers(1).spares(0).listener(told);
  }

  private PoolOptions options(String language) {
    return language.equals("c") ? options() : Pools.options(1).workers(1).spares(0).listener(told);
  }

  /** The callers were impatient, but the worker did what it could, one call after another. */
  @ParameterizedTest
  @ValueSource(strings = {"c", "java"})
  void aWorkerIsNotToBlameForCallsThatItHasNotBegun(String language) throws Exception {
    PoolOptions options = options(language).stuckLimit(Duration.ofMillis(500));
    CallOptions impatient = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(600));
    try (WorkerPool pool = open(options)) {
      String pid = call(pool, "pid", "");
      var calls = new ArrayList<CompletableFuture<byte[]>>();
      for (int i = 0; i < 6; i++) {
        calls.add(pool.submit("sleep", bytes("250"), impatient));
      }
      assertThat(calls.getFirst().get()).isEqualTo(bytes("slept"));
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(() -> calls.getLast().get())
          .withCauseInstanceOf(DeadlinePassed.class);
      await().until(() -> inFlight(pool) == 0);
      assertThat(call(pool, "pid", "")).isEqualTo(pid);
      assertThat(told.deaths).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"c", "java"})
  void aLongCallMayGoOnThoughOthersBehindItAreGivenUp(String language) throws Exception {
    PoolOptions options = options(language).stuckLimit(Duration.ofMillis(300));
    try (WorkerPool pool = open(options)) {
      var slow = pool.submit("sleep", bytes("2000"), CallOptions.DEFAULT);
      await().until(() -> inFlight(pool) == 1);
      assertThatExceptionOfType(DeadlinePassed.class)
          .isThrownBy(
              () ->
                  pool.call(
                      "upper",
                      bytes("x"),
                      CallOptions.DEFAULT.withDeadline(Duration.ofMillis(200))));
      assertThat(slow.get()).isEqualTo(bytes("slept"));
      assertThat(told.deaths).isEmpty();
    }
  }

  /** The call was read ahead and answered as cancelled, but run all the same when its turn came. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aCallThatWasGivenUpBehindAnotherIsNotDoneAndHoldsUpNobody(int threads) throws Exception {
    Path done = directory.resolve("done");
    PoolOptions options =
        Pools.options(threads)
            .workers(1)
            .spares(0)
            .listener(told)
            .recycleAfterCalls(threads + 3); // exactly the calls below
    try (WorkerPool pool = open(options)) {
      int pid = Integer.parseInt(call(pool, "pid", ""));
      for (int i = 0; i < threads; i++) {
        var _ = pool.submit("sleep", bytes("1000"));
      }
      await().until(() -> pool.status().workers().getFirst().ringDepth() == 0);
      var next = pool.submit("sleep", bytes("100"));
      var givenUp = pool.submit("note", bytes(done + " x"));
      givenUp.cancel(true);
      assertThat(next.get()).isEqualTo(bytes("slept"));
      await().atMost(LONG).until(() -> ProcessHandle.of(pid).isEmpty());
      assertThat(done).doesNotExist();
      assertThat(told.deaths).isEmpty();
    }
  }

  /** All callers chose the same worker, and those that came second were told that all were busy. */
  @Test
  void callersThatComeTogetherFindAWorkerEach() throws Exception {
    int count = 4;
    try (WorkerPool pool = open(options().workers(count).callsPerWorker(1));
        ExecutorService threads = Executors.newFixedThreadPool(count)) {
      var together = new CyclicBarrier(count);
      for (int round = 0; round < 200; round++) {
        var calls = new ArrayList<Future<byte[]>>();
        for (int i = 0; i < count; i++) {
          calls.add(
              threads.submit(
                  () -> {
                    together.await();
                    return pool.call("sleep", bytes("5"), REFUSE);
                  }));
        }
        for (Future<byte[]> call : calls) {
          assertThat(call.get()).isEqualTo(bytes("slept"));
        }
      }
    }
  }

  @Test
  void aCallThatWasTakenIsNotRefusedWhenItsWorkerDies() throws Exception {
    try (WorkerPool pool = open(options().workers(2).callsPerWorker(1))) {
      var one = pool.submit("sleep", bytes("1000"), REFUSE);
      var two = pool.submit("sleep", bytes("1000"), REFUSE);
      await().until(() -> inFlight(pool) == 2);
      Pools.kill(pool.status().workers().getFirst().pid(), Signo.KILL);
      assertThat(one.get()).isEqualTo(bytes("slept"));
      assertThat(two.get()).isEqualTo(bytes("slept"));
      assertThat(told.deaths).hasSize(1);
    }
  }

  /**
   * The cancel message used to be sent at once or never: never, while another caller waited for a
   * slot.
   */
  @Test
  void aWorkerLearnsThatACallWasGivenUpThoughThereWasNoRoomToSayIt() throws Exception {
    PoolOptions options =
        Pools.options(0)
            .workers(1)
            .spares(0)
            .listener(told)
            .heartbeat(Duration.ZERO)
            .stuckLimit(Duration.ofSeconds(3));
    try (WorkerPool pool = open(options);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      String pid = call(pool, "pid", "");
      CallOptions impatient = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(500));
      var sleeping = pool.submit("sleep", bytes("60000"), impatient);
      await().until(() -> pool.status().workers().getFirst().ringDepth() == 0);
      Pools.stop(Integer.parseInt(pid));
      var others = new ArrayList<Future<byte[]>>();
      for (int i = 0; i < 40; i++) {
        others.add(threads.submit(() -> pool.call("echo", new byte[SLOTFUL])));
      }
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(sleeping::get)
          .withCauseInstanceOf(DeadlinePassed.class);
      Pools.kill(Integer.parseInt(pid), Signo.CONT);
      for (Future<byte[]> other : others) {
        assertThat(other.get()).hasSize(SLOTFUL);
      }
      await().until(() -> inFlight(pool) == 0);
      assertThat(call(pool, "pid", "")).isEqualTo(pid);
      assertThat(told.deaths).isEmpty();
    }
  }

  /** In format 1 no rehearsal call could be sent then, and there was no second attempt. */
  @ParameterizedTest
  @EnumSource
  void aWorkerGetsReadyThoughOthersHoldAllSlots(Placement placement) throws Exception {
    Path closed = directory.resolve("closed-" + placement); // holds back the second worker
    String script =
        "mkdir %1$s || while test -e %1$s; do sleep 0.05; done; exec \"$0\" \"$@\""
            .formatted(closed);
    PoolOptions options =
        PoolOptions.of("sh", "-c", script, worker.toString())
            .workers(2)
            .spares(0)
            .placement(placement)
            .heartbeat(Duration.ZERO)
            .readyLimit(Duration.ofSeconds(10))
            .listener(told);
    try (WorkerPool pool = WorkerPool.open(options);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      int first = Integer.parseInt(call(pool, "pid", ""));
      Pools.stop(first);
      var calls = new ArrayList<Future<byte[]>>();
      for (int i = 0; i < 20; i++) {
        calls.add(threads.submit(() -> pool.call("echo", new byte[SLOTFUL])));
      }
      await().until(() -> pool.status().slotsUsed() == SegmentConfig.DEFAULT.slotsPerGuest());
      Files.delete(closed);
      assertThat(pool.awaitReady(LONG)).isTrue();
      Pools.kill(first, Signo.CONT);
      for (Future<byte[]> call : calls) {
        assertThat(call.get()).hasSize(SLOTFUL);
      }
      assertThat(told.deaths).isEmpty();
    }
  }

  @Test
  void aCallerThatWaitsForTheWayToAWorkerCanBeInterrupted() throws Exception {
    try (WorkerPool pool = open(options().heartbeat(Duration.ZERO))) {
      int pid = Integer.parseInt(call(pool, "pid", ""));
      Pools.stop(pid);
      var ended = new ArrayList<CompletableFuture<Class<?>>>();
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < 40; i++) {
        var end = new CompletableFuture<Class<?>>();
        ended.add(end);
        threads.add(Thread.ofPlatform().start(() -> end.complete(interruptedIn(pool))));
      }
      await().until(() -> inFlight(pool) == 40);
      threads.forEach(Thread::interrupt);
      for (CompletableFuture<Class<?>> end : ended) {
        assertThat(end.get()).isEqualTo(InterruptedException.class);
      }
      assertThat(told.deaths).as("that it was stuck came later").isEmpty();
      Pools.kill(pid, Signo.CONT);
    }
  }

  private static Class<?> interruptedIn(WorkerPool pool) {
    try {
      pool.call("echo", new byte[SLOTFUL], CallOptions.DEFAULT.withDeadline(LONG));
      return Void.class;
    } catch (CallException | InterruptedException e) {
      return e.getClass();
    }
  }

  /** The caller that was told of room had no use for it, and the next was not told. */
  @Test
  void roomThatACallNoLongerNeedsIsForTheNext() throws Exception {
    Path closed = directory.resolve("closed");
    String script = "while test -e %s; do sleep 0.05; done; exec \"$0\" \"$@\"".formatted(closed);
    PoolOptions options =
        PoolOptions.of("sh", "-c", script, worker.toString())
            .workers(2)
            .spares(0)
            .callsPerWorker(1)
            .listener(told);
    try (WorkerPool pool = open(options);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Files.createFile(closed);
      try {
        var cancelled = pool.submit("sleep", bytes("60000"), CallOptions.DEFAULT);
        int first = busy(pool).getFirst();
        var running = pool.submit("sleep", bytes("1500"), CallOptions.DEFAULT);
        Pools.kill(first, Signo.KILL);
        await().until(() -> pool.status().waiting() == 1);
        Future<String> next = threads.submit(() -> call(pool, "upper", "next"));
        await().until(() -> pool.status().waiting() == 2);
        cancelled.cancel(true);
        assertThat(running.get()).isEqualTo(bytes("slept"));
        assertThat(next.get()).isEqualTo("NEXT");
      } finally {
        Files.delete(closed);
      }
    }
  }

  private static List<Integer> busy(WorkerPool pool) {
    return pool.status().workers().stream()
        .filter(it -> it.inFlight() > 0)
        .map(PoolStatus.WorkerStatus::pid)
        .toList();
  }
}
