package dev.belfry.workers;

import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import dev.belfry.loop.EventLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is kept of workers, which start in a moment. */
@Timeout(120)
final class SupervisorTest {
  private static final int DEATHS = 10;

  /** The one that waits for it to become ready did so for all its time, and kept it in memory. */
  @Test
  void noTimerWaitsForAWorkerThatHasDied(@TempDir Path directory) throws Exception {
    PoolOptions options =
        PoolOptions.of(CWorkers.example(directory).toString())
            .workers(1)
            .spares(0)
            .crashLimit(2 * DEATHS)
            .restartDelay(Duration.ofMillis(1), Duration.ofMillis(1))
            .readyLimit(Duration.ofHours(1))
            .recycleAfter(Duration.ofHours(1));
    try (Supervised one = Supervised.start(options)) {
      EventLoop loop = one.host().loop();
      PooledWorker worker = one.worker();
      long before = inFlight(loop);
      for (int i = 0; i < DEATHS; i++) {
        PooledWorker dead = worker;
        Pools.kill(dead.peer().pid().orElseThrow(), Signo.KILL);
        await().until(() -> one.worker() != dead);
        worker = one.worker();
      }
      await().until(() -> inFlight(loop) <= before);
    }
  }

  private static long inFlight(EventLoop loop) {
    return CompletableFuture.supplyAsync(loop::inFlight, loop.scheduler()).join();
  }
}
