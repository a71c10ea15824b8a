package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import dev.belfry.shm.Witness;
import dev.belfry.testkit.SysTap;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a supervisor keeps of its workers, which start almost instantly. */
@Timeout(120)
final class SupervisorTest {
  private static final int DEATHS = 10;

  /** The timer of its ready limit used to run to its end, and kept the dead worker in memory. */
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

  /** The log used to get a stack trace ten times a second while it lasted. */
  @Test
  void whatIsInTheWayOfAnotherWorkerIsToldOnce(@TempDir Path directory) throws Exception {
    PoolOptions options =
        PoolOptions.of(CWorkers.example(directory).toString())
            .workers(1)
            .spares(0)
            .restartDelay(Duration.ofMillis(1), Duration.ofMillis(1));
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.failFirst("socketpair", 10, Errno.EMFILE);
    try (var warnings = new Warnings(Supervisor.class);
        Supervised one = Supervised.start(options, tap.sys())) {
      PooledWorker first = one.worker();
      assertThat(warnings.texts)
          .containsExactly(
              "cannot start another worker yet: socketpair(STREAM): EMFILE (Too many open files)");
      assertThat(warnings.thrown).isEmpty();
      assertThat(first.name()).isEqualTo("worker-1");
      tap.failFirst("socketpair", 10, Errno.EMFILE);
      Pools.kill(first.peer().pid().orElseThrow(), Signo.KILL);
      await().until(() -> one.worker() != first);
      assertThat(warnings.texts).hasSize(2);
    }
  }

  /** All that its exit status tells is that somebody killed it. */
  @Test
  void aWorkerThatViolatedTheProtocolIsSaidToHave(@TempDir Path directory) throws Exception {
    var told = new Pools.Told();
    PoolOptions options =
        PoolOptions.of(CWorkers.example(directory).toString()).workers(1).spares(0).listener(told);
    try (Supervised one = Supervised.start(options)) {
      PooledWorker worker = one.worker();
      Runnable noticed = () -> worker.onDying(worker.peer(), Witness.VIOLATION);
      CompletableFuture.runAsync(noticed, one.host().loop().scheduler()).join();
      Pools.kill(worker.peer().pid().orElseThrow(), Signo.KILL);
      await().until(() -> told.deaths.size() == 1);
      assertThat(told.deaths.getFirst().how())
          .isEqualTo("killed by SIGKILL (it violated the protocol)");
    }
  }

  private static long inFlight(EventLoop loop) {
    return CompletableFuture.supplyAsync(loop::inFlight, loop.scheduler()).join();
  }
}
