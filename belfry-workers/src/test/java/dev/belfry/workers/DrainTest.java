package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Draining a pool: new calls are refused, those in flight end as they would at any other time. */
@Timeout(120)
final class DrainTest extends QuickWorkers {
  @Test
  void aDrainThatTakesTooLongSaysSo() throws Exception {
    try (WorkerPool pool = open(options())) {
      CompletableFuture<byte[]> call = pool.submit("sleep", bytes("60000"));
      await().until(() -> Pools.inFlight(pool) == 1);
      assertThat(pool.drain(Duration.ofMillis(100))).isFalse();
      assertThatExceptionOfType(PoolClosed.class).isThrownBy(() -> call(pool, "upper", ""));
      assertThat(call).isNotDone();
      call.cancel(true);
      assertThat(pool.drain(LONG)).isTrue();
    }
  }

  /** The call used to fail: a draining pool started no worker that could have taken it. */
  @Test
  void aCallWhoseWorkerDiesGoesToTheNextOne() throws Exception {
    try (WorkerPool pool = open(options())) {
      int first = pid(pool);
      CompletableFuture<byte[]> call = pool.submit("sleep", bytes("500"));
      await().until(() -> Pools.inFlight(pool) == 1);
      CompletableFuture<Boolean> drained = drain(pool);
      Pools.kill(first, Signo.KILL);
      assertThat(call).succeedsWithin(LONG).isEqualTo(bytes("slept"));
      assertThat(drained).succeedsWithin(LONG).isEqualTo(true);
    }
  }

  /** It used to fail too, though it only had to wait a moment for room. */
  @Test
  void aCallWhoseWorkerDiesWaitsForRoomAtTheOthers() throws Exception {
    try (WorkerPool pool = open(options().workers(2).callsPerWorker(1))) {
      int first = pid(pool);
      CompletableFuture<byte[]> one = pool.submit("sleep", bytes("500"));
      CompletableFuture<byte[]> other = pool.submit("sleep", bytes("500"));
      await().until(() -> Pools.inFlight(pool) == 2);
      CompletableFuture<Boolean> drained = drain(pool);
      Pools.kill(first, Signo.KILL);
      assertThat(one).succeedsWithin(LONG).isEqualTo(bytes("slept"));
      assertThat(other).succeedsWithin(LONG).isEqualTo(bytes("slept"));
      assertThat(drained).succeedsWithin(LONG).isEqualTo(true);
    }
  }

  @Test
  void aCallThatFindsNoWorkerInTimeFailsWhenThePoolCloses() throws Exception {
    Duration hour = Duration.ofHours(1);
    try (WorkerPool pool = open(options().restartDelay(hour, hour))) {
      CompletableFuture<byte[]> call = pool.submit("sleep", bytes("60000"));
      Pools.kill(pool.status().workers().getFirst().pid(), Signo.KILL);
      await().until(() -> told.deaths.size() == 1);
      assertThat(pool.drain(Duration.ofMillis(100))).isFalse();
      assertThat(call).isNotDone();
      pool.close(Duration.ZERO);
      assertThat(call)
          .failsWithin(LONG)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(PoolClosed.class);
      assertThat(pool.drain(LONG)).isTrue();
    }
  }

  /** Begins to drain a pool, and returns once new calls are refused. */
  private static CompletableFuture<Boolean> drain(WorkerPool pool) {
    CompletableFuture<Boolean> drained = CompletableFuture.supplyAsync(() -> pool.drain(LONG));
    CallOptions atOnce = CallOptions.DEFAULT.withOverload(Overload.REFUSE);
    await()
        .until(
            () -> {
              try {
                pool.call("upper", bytes(""), atOnce);
                return false;
              } catch (PoolFull e) {
                return false;
              } catch (PoolClosed e) {
                return true;
              }
            });
    return drained;
  }
}
