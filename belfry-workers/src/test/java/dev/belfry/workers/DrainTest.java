package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
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
    try (WorkerPool pool = open(options().callsPerWorker(1).heartbeat(Duration.ZERO))) {
      int first = pid(pool);
      Pools.stop(first);
      CompletableFuture<byte[]> call = pool.submit("upper", bytes("moved"));
      CompletableFuture<Boolean> drained = drain(pool);
      Pools.kill(first, Signo.KILL);
      assertThat(call).succeedsWithin(LONG).isEqualTo(bytes("MOVED"));
      assertThat(drained).succeedsWithin(LONG).isEqualTo(true);
    }
  }

  /** It used to fail too, though it only had to wait a moment for room. */
  @Test
  void aCallWhoseWorkerDiesWaitsForRoomAtTheOthers() throws Exception {
    Path two = directory.resolve("two"); // no more start
    String twice = "mkdir %1$s || mkdir %1$s/more || exec sleep 3600".formatted(two);
    PoolOptions options = after(twice).workers(2).callsPerWorker(1).heartbeat(Duration.ZERO);
    try (WorkerPool pool = open(options)) {
      List<Integer> pids =
          pool.status().workers().stream().map(PoolStatus.WorkerStatus::pid).toList();
      for (int pid : pids) {
        Pools.stop(pid);
      }
      CompletableFuture<byte[]> one = pool.submit("upper", bytes("one"));
      CompletableFuture<byte[]> other = pool.submit("upper", bytes("other"));
      CompletableFuture<Boolean> drained = drain(pool);
      Pools.kill(pids.getFirst(), Signo.KILL);
      await().until(() -> pool.status().waiting() == 1);
      Pools.kill(pids.getLast(), Signo.CONT);
      assertThat(one).succeedsWithin(LONG).isEqualTo(bytes("ONE"));
      assertThat(other).succeedsWithin(LONG).isEqualTo(bytes("OTHER"));
      assertThat(drained).succeedsWithin(LONG).isEqualTo(true);
    }
  }

  @Test
  void aDrainKeepsToItsLimitThoughAListenerTakesItsTime() throws Exception {
    var busy = new CountDownLatch(1);
    var proceed = new CountDownLatch(1);
    var listener =
        new PoolListener() {
          @Override
          public void onDeath(Death death) {
            busy.countDown();
            try {
              proceed.await();
            } catch (InterruptedException e) {
              throw new AssertionError("nobody interrupts it", e);
            }
          }
        };
    try (WorkerPool pool = open(options().listener(listener))) {
      Pools.kill(pid(pool), Signo.KILL);
      busy.await();
      try {
        assertThat(CompletableFuture.supplyAsync(() -> pool.drain(Duration.ofMillis(100))))
            .succeedsWithin(LONG)
            .isEqualTo(false);
      } finally {
        proceed.countDown();
      }
      assertThat(pool.drain(LONG)).isTrue();
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
