package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.belfry.loop.EventLoop;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which calls fail because the circuit is open, and when. */
@Timeout(120)
final class CircuitTest {
  /**
   * The first worker dies at once. The others wait for a file, then start, or die if it is not
   * empty.
   */
  private static final String ONE_DIES =
      "mkdir first 2>/dev/null && exit 9; until [ -e go ]; do sleep 0.01; done;"
          + " [ -s go ] && exit 8; exec ./worker \"$@\"";

  @TempDir private Path directory;
  private final Pools.Told told = new Pools.Told();

  private WorkerPool openWithOneThatStarts() throws Exception {
    CWorkers.example(directory);
    PoolOptions options =
        PoolOptions.of("/bin/sh", "-c", ONE_DIES, "sh")
            .directory(directory)
            .workers(2)
            .spares(0)
            .crashLimit(1)
            .listener(told);
    WorkerPool pool = WorkerPool.open(options);
    await().until(() -> !told.circuits.isEmpty());
    return pool;
  }

  /** Calls on another thread, because the call waits. */
  private static Future<String> callElsewhere(WorkerPool pool) {
    var call = new FutureTask<>(() -> Pools.call(pool, "upper", "patience"));
    Thread.startVirtualThread(call);
    return call;
  }

  /** The call used to fail, although a worker was about to be ready for it. */
  @Test
  void aCallWaitsForAWorkerThatIsStillStarting() throws Exception {
    try (WorkerPool pool = openWithOneThatStarts()) {
      Future<String> call = callElsewhere(pool);
      await().until(() -> pool.status().waiting() == 1 || call.isDone());
      Files.createFile(directory.resolve("go"));
      assertThat(call.get()).isEqualTo("PATIENCE");
    }
  }

  @Test
  void aCallFailsAsSoonAsTheLastWorkerThatWasStartingHasDied() throws Exception {
    try (WorkerPool pool = openWithOneThatStarts()) {
      Future<String> call = callElsewhere(pool);
      await().until(() -> pool.status().waiting() == 1 || call.isDone());
      Files.writeString(directory.resolve("go"), "and die");
      assertThatThrownBy(call::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(CircuitOpen.class);
    }
  }

  /** Calls used to fail for a while after the reset, with no way to tell for how long. */
  @Test
  void afterAResetNobodyIsToldThatTheCircuitIsOpen() throws Exception {
    PoolOptions options =
        PoolOptions.of("/nowhere/at/all").workers(1).spares(0).crashLimit(1).listener(told);
    try (Supervised one = Supervised.start(options)) {
      await().until(() -> one.supervisor().isCircuitOpen());
      EventLoop loop = one.host().loop();
      var busy = new CountDownLatch(1);
      var proceed = new CountDownLatch(1);
      loop.scheduler()
          .execute(
              () -> {
                busy.countDown();
                try {
                  proceed.await();
                } catch (InterruptedException e) {
                  throw new AssertionError("nobody interrupts it", e);
                }
              });
      busy.await();
      one.supervisor().reset();
      boolean stillOpen = one.supervisor().isCircuitOpen();
      proceed.countDown();
      assertThat(stillOpen).isFalse();
      await().until(() -> told.circuits.size() == 2);
    }
  }
}
