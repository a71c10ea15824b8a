package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which deaths are part of a crash loop. */
@Timeout(120)
final class ServedTest extends QuickWorkers {
  private static final Duration A_WHILE = Duration.ofMillis(1100);

  /** Records when workers became ready, and whatever ends them. */
  private static final class Starts implements PoolListener {
    final List<Long> readyNanos = new CopyOnWriteArrayList<>();
    final List<Death> deaths = new CopyOnWriteArrayList<>();
    final List<Integer> circuits = new CopyOnWriteArrayList<>();

    @Override
    public void onReady(String worker, int pid) {
      readyNanos.add(System.nanoTime());
    }

    @Override
    public void onDeath(Death death) {
      deaths.add(death);
    }

    @Override
    public void onCircuitOpen(int inARow) {
      circuits.add(inARow);
    }
  }

  /** It had no call to finish, but it would have finished one. */
  @Test
  void theDeathOfAWorkerThatWasReadyForAWhileIsNoPartOfOne() throws Exception {
    var starts = new Starts();
    try (WorkerPool pool = WorkerPool.open(options().crashLimit(1).listener(starts))) {
      assertThat(pool.awaitReady(LONG)).isTrue();
      await().until(() -> !starts.readyNanos.isEmpty() && isOver(starts.readyNanos.getFirst()));
      Pools.kill(pool.status().workers().getFirst().pid(), Signo.KILL);
      await().until(() -> starts.deaths.size() == 1);
      assertThat(pool.awaitReady(LONG)).isTrue();
      assertThat(starts.circuits).isEmpty();
      assertThat(call(pool, "upper", "next")).isEqualTo("NEXT");
    }
  }

  private static boolean isOver(long readyNanos) {
    return System.nanoTime() - readyNanos > TimeUnit.NANOSECONDS.convert(A_WHILE);
  }
}
