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
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Calls that are started first and fetched later, with workers in C. */
@Timeout(120)
final class StartedCallTest {
  @TempDir private static Path directory;
  private static Path worker;

  @BeforeAll
  static void compile() throws Exception {
    worker = CWorkers.example(directory);
  }

  private static PoolOptions options() {
    return PoolOptions.of(worker.toString()).workers(1).spares(0);
  }

  private static StartedCall start(WorkerPool pool, String method, String text) throws Exception {
    return pool.start(method, bytes(text));
  }

  @Test
  void oneThreadHasManyCallsUnderWayAndFetchesTheAnswersInAnyOrder() throws Exception {
    try (WorkerPool pool = open(options())) {
      var answers = new ArrayList<StartedCall>();
      for (int i = 0; i < 30; i++) {
        answers.add(start(pool, "upper", "call " + i));
      }
      for (int i = answers.size() - 1; i >= 0; i--) {
        assertThat(answers.get(i).await()).isEqualTo(bytes("CALL " + i));
        assertThat(answers.get(i).isDone()).isTrue();
      }
      assertThat(answers.getFirst().await()).as("once more").isEqualTo(bytes("CALL 0"));
    }
  }

  @Test
  void anAnswerIsFetchedByAVirtualThreadToo() throws Exception {
    try (WorkerPool pool = open(options());
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 100; i++) {
        StartedCall answer = start(pool, "upper", "mine");
        assertThat(virtual.submit(answer::await).get()).isEqualTo(bytes("MINE"));
      }
    }
  }

  @Test
  void whoWaitsForAnAnswerLearnsThatItWasCancelled() throws Exception {
    try (WorkerPool pool = open(options());
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      StartedCall answer = start(pool, "sleep", "60000");
      Future<byte[]> waiting = virtual.submit(answer::await);
      await().until(() -> pool.status().workers().getFirst().ringDepth() == 0);
      answer.cancel();
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
          .withCauseInstanceOf(CancellationException.class);
    }
  }

  @Test
  void anAnswerThatNobodyFetchesIsNoticedAndMakesRoom() throws Exception {
    try (WorkerPool pool = open(options())) {
      StartedCall answer = start(pool, "upper", "forgotten");
      await().until(answer::isDone);
      assertThat(inFlight(pool)).isZero();
      assertThat(answer.await()).isEqualTo(bytes("FORGOTTEN"));
      start(pool, "upper", "forgotten too");
      assertThat(pool.drain(LONG)).isTrue();
    }
  }

  /** The answers that take up the room have not been fetched, and no other thread will. */
  @Test
  void moreCallsAreStartedThanThereIsRoomFor() throws Exception {
    try (WorkerPool pool = open(options().callsPerWorker(4))) {
      var answers = new ArrayList<StartedCall>();
      for (int i = 0; i < 200; i++) {
        answers.add(pool.start("echo", new byte[1000], CallOptions.DEFAULT));
      }
      for (StartedCall answer : answers) {
        assertThat(answer.await()).hasSize(1000);
      }
    }
  }

  @Test
  void whatACallFailsOfIsToldToWhoFetchesTheAnswer() throws Exception {
    try (WorkerPool pool = open(options().callsPerWorker(1))) {
      assertThatExceptionOfType(UnknownMethod.class)
          .isThrownBy(() -> start(pool, "nothing", "").await());
      StartedCall sleeping = start(pool, "sleep", "60000");
      assertThatExceptionOfType(PoolFull.class)
          .isThrownBy(
              () ->
                  pool.start("echo", bytes(""), CallOptions.DEFAULT.withOverload(Overload.REFUSE))
                      .await());
      sleeping.cancel();
    }
  }

  @Test
  void aCallThatIsCancelledStopsTheWorker() throws Exception {
    try (WorkerPool pool = open(options().stuckLimit(LONG))) {
      StartedCall answer = start(pool, "sleep", "60000");
      answer.cancel();
      assertThatExceptionOfType(CancellationException.class).isThrownBy(answer::await);
      assertThat(call(pool, "upper", "free again")).isEqualTo("FREE AGAIN");
      assertThat(inFlight(pool)).isZero();
    }
  }

  @Test
  void aCallThatNobodyComesForEndsWithItsDeadline() throws Exception {
    try (WorkerPool pool = open(options().stuckLimit(LONG))) {
      CallOptions brief = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(100));
      StartedCall answer = pool.start("sleep", bytes("60000"), brief);
      await().until(() -> answer.isDone() && inFlight(pool) == 0);
      assertThatExceptionOfType(DeadlinePassed.class).isThrownBy(answer::await);
    }
  }

  @Test
  void aCallIsAwaitedUntilItsDeadline() throws Exception {
    try (WorkerPool pool = open(options().stuckLimit(LONG))) {
      CallOptions brief = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(100));
      StartedCall answer = pool.start("sleep", bytes("60000"), brief);
      assertThatExceptionOfType(DeadlinePassed.class).isThrownBy(answer::await);
    }
  }

  @Test
  void anInterruptEndsTheWaitAndNotTheCall() throws Exception {
    try (WorkerPool pool = open(options())) {
      StartedCall answer = start(pool, "sleep", "300");
      Thread.currentThread().interrupt();
      assertThatExceptionOfType(InterruptedException.class).isThrownBy(answer::await);
      assertThat(answer.await()).isEqualTo(bytes("slept"));
    }
  }

  @Test
  void anotherWorkerAnswersIfTheFirstDies() throws Exception {
    try (WorkerPool pool = open(options().spares(1))) {
      int first = Integer.parseInt(call(pool, "pid", ""));
      StartedCall twice = start(pool, "sleep", "300");
      StartedCall once =
          pool.start(
              "sleep", bytes("60000"), CallOptions.DEFAULT.withDelivery(Delivery.AT_MOST_ONCE));
      Pools.kill(first, Signo.KILL);
      assertThat(twice.await()).isEqualTo(bytes("slept"));
      assertThatExceptionOfType(WorkerDied.class).isThrownBy(once::await);
    }
  }

  /**
   * A thread that fetches its answers and leaves does not listen for answers that no one awaits.
   * But callers that wait for room, for a slot, or asleep on a virtual thread must be notified.
   */
  @Test
  void pipelinesAndCallersOfAllKindsLeaveNothingLying() throws Exception {
    try (WorkerPool pool = open(options().callsPerWorker(24));
        ExecutorService platform = Executors.newCachedThreadPool();
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        all.add(platform.submit(() -> pipeline(pool, 16, 1_000)));
        all.add(platform.submit(() -> pipeline(pool, 1, 64)));
        all.add(virtual.submit(() -> pipeline(pool, 4, 200)));
      }
      for (Future<?> one : all) {
        one.get();
      }
      await().until(() -> inFlight(pool) == 0);
    }
  }

  private static Void pipeline(WorkerPool pool, int depth, int size) throws Exception {
    Deque<StartedCall> underWay = new ArrayDeque<>();
    int received = 0;
    for (int sent = 0; sent < 2_000; sent++) {
      byte[] payload = ByteBuffer.allocate(size).putInt(0, sent).array();
      underWay.add(pool.start("echo", payload, CallOptions.DEFAULT));
      if (underWay.size() == depth) {
        expect(underWay.remove(), received++);
      }
    }
    while (!underWay.isEmpty()) {
      expect(underWay.remove(), received++);
    }
    return null;
  }

  private static void expect(StartedCall answer, int number) throws Exception {
    assertThat(ByteBuffer.wrap(answer.await()).getInt()).isEqualTo(number);
  }
}
