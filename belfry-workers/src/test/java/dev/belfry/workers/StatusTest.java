package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static dev.belfry.workers.Pools.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pool's status, compared with what was done to the pool. */
@Timeout(120)
final class StatusTest {
  /** The size of a call that needs a slot, and the largest that needs no second one. */
  private static final int SLOTFUL = 2000;

  private static final int FULL_SLOT = 64 << 10;

  @Test
  void everyCallIsCountedOnceByHowItEnded() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(1).attempts(2).crashLimit(9))) {
      for (int i = 0; i < 7; i++) {
        call(pool, "upper", "fine");
      }
      CallOptions brief = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(50));
      assertThatExceptionOfType(MethodFailed.class).isThrownBy(() -> call(pool, "fail", ""));
      assertThatExceptionOfType(UnknownMethod.class).isThrownBy(() -> call(pool, "nothing", ""));
      assertThatExceptionOfType(DeadlinePassed.class)
          .isThrownBy(() -> pool.call("sleep", bytes("60000"), brief));
      pool.submit("sleep", bytes("60000"), CallOptions.DEFAULT).cancel(true);
      assertThat(pool.status().finished()).isEqualTo(7);
      assertThat(pool.status().failed()).isEqualTo(4);
      assertThat(pool.status().repeated()).isZero();
      assertThat(pool.status().workers().stream().mapToLong(it -> it.finished()).sum())
          .as("as the workers count them")
          .isEqualTo(7);

      assertThatExceptionOfType(DeadLetter.class).isThrownBy(() -> call(pool, "crash", "poison"));
      PoolStatus status = pool.status();
      assertThat(status.finished()).isEqualTo(7);
      assertThat(status.failed()).isEqualTo(5);
      assertThat(status.repeated()).isEqualTo(1);
      assertThat(status.deadLetters()).isEqualTo(1);
    }
  }

  @Test
  void anInterruptedCallCountsAsFailed() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0))) {
      Thread.currentThread().interrupt();
      assertThatExceptionOfType(InterruptedException.class)
          .isThrownBy(() -> call(pool, "sleep", "60000"));
      assertThat(pool.status().failed()).isEqualTo(1);
      assertThat(pool.status().finished()).isZero();
    }
  }

  @Test
  void ratesAndLatenciesAreThoseOfTheLastSecond() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0))) {
      assertThat(pool.status().latency()).isEqualTo(Latency.NONE);
      await()
          .atMost(LONG)
          .until(
              () -> {
                call(pool, "sleep", "20");
                return pool.status().callsPerSecond() > 0;
              });
      PoolStatus status = pool.status();
      assertThat(status.callsPerSecond()).isBetween(0.5, 52.0);
      assertThat(status.latency().p50Nanos()).isGreaterThan(19_000_000);
      assertThat(status.latency().maxNanos()).isGreaterThanOrEqualTo(status.latency().p50Nanos());
      await() // because a second may have ended in between
          .untilAsserted(
              () -> {
                call(pool, "sleep", "20");
                PoolStatus now = pool.status();
                assertThat(now.workers().getFirst().latency()).isEqualTo(now.latency());
              });

      await().atMost(LONG).until(() -> pool.status().callsPerSecond() == 0);
      assertThat(pool.status().latency()).isEqualTo(Latency.NONE);
    }
  }

  /** A pool whose calls all timed out used to show its deadlines as latencies. */
  @Test
  void callsThatHaveNoAnswerHaveNoLatency() throws Exception {
    Duration limit = Duration.ofMillis(400);
    CallOptions brief = CallOptions.DEFAULT.withDeadline(limit);
    try (WorkerPool pool = open(options(0).workers(1).spares(0))) {
      await()
          .atMost(LONG)
          .until(
              () -> {
                CompletableFuture<byte[]> late = pool.submit("sleep", bytes("60000"), brief);
                assertThatExceptionOfType(DeadlinePassed.class)
                    .isThrownBy(() -> pool.call("sleep", bytes("60000"), brief));
                assertThat(late).failsWithin(LONG);
                call(pool, "upper", "in time");
                return pool.status().callsPerSecond() > 0;
              });
      assertThat(pool.status().latency().p50Nanos()).isBetween(1L, limit.toNanos() - 1);
    }
  }

  @Test
  void messagesAndPayloadsAreSeenWhileAWorkerStandsStill() throws Exception {
    // Without a heartbeat, a stopped worker is not killed.
    PoolOptions options = options(0).workers(1).spares(0).heartbeat(Duration.ZERO);
    try (WorkerPool pool = open(options)) {
      call(pool, "echo", "once");
      PoolStatus.WorkerStatus worker = pool.status().workers().getFirst();
      assertThat(worker.ringDepth()).isZero();
      assertThat(worker.ringCapacity()).isEqualTo(255);
      assertThat(pool.status().slotsUsed()).isZero();
      assertThat(pool.status().slots()).isEqualTo(32);

      Pools.stop(worker.pid());
      List<CompletableFuture<byte[]>> answers = new ArrayList<>();
      try {
        for (int i = 0; i < 5; i++) {
          int length = i % 2 == 0 ? SLOTFUL : FULL_SLOT;
          answers.add(pool.submit("echo", new byte[length], CallOptions.DEFAULT));
        }
        PoolStatus status = pool.status();
        assertThat(status.workers().getFirst().inFlight()).isEqualTo(5);
        assertThat(status.workers().getFirst().ringDepth()).isEqualTo(5);
        assertThat(status.slotsUsed()).isEqualTo(5);
      } finally {
        Pools.kill(worker.pid(), Signo.CONT);
      }
      for (int i = 0; i < 5; i++) {
        assertThat(answers.get(i).get()).hasSize(i % 2 == 0 ? SLOTFUL : FULL_SLOT);
      }
      await().until(() -> pool.status().slotsUsed() == 0);
      assertThat(pool.status().workers().getFirst().ringDepth()).isZero();
    }
  }

  @Test
  void aWorkerKnowsHowManyDiedInItsPlace() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0))) {
      for (int deaths = 1; deaths <= 2; deaths++) {
        call(pool, "upper", "so that it has served");
        PoolStatus.WorkerStatus before = pool.status().workers().getFirst();
        assertThat(before.deaths()).isEqualTo(deaths - 1);
        Pools.kill(before.pid(), Signo.KILL);
        int expected = deaths;
        await()
            .atMost(LONG)
            .until(
                () ->
                    pool.status().workers().stream()
                        .anyMatch(it -> it.state().equals("ready") && it.deaths() == expected));
      }
      assertThat(pool.status().deaths()).isEqualTo(2);
    }
  }

  @Test
  void aPoolThatIsClosedStillAnswers() throws Exception {
    WorkerPool pool = open(options(0).workers(1).spares(0));
    call(pool, "upper", "one");
    pool.close();
    assertThat(pool.status().finished()).isEqualTo(1);
    assertThat(pool.status().workers()).isEmpty();
  }
}
