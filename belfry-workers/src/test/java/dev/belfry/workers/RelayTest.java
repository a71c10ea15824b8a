package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.inFlight;
import static dev.belfry.workers.Pools.open;
import static dev.belfry.workers.Pools.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** On which threads a worker runs calls by default. */
@Timeout(120)
final class RelayTest {
  private static WorkerPool openPool() throws Exception {
    return open(options(0).workers(1).spares(0).stuckLimit(LONG));
  }

  /** Calls a method until its calls run on the thread that reads them, even if one takes long. */
  private static void makeShort(WorkerPool pool) throws Exception {
    int inARow = 0;
    while (inARow < 50) { // back to back, because a call after a pause takes longer
      inARow = call(pool, "nap", "0").equals("platform") ? inARow + 1 : 0;
    }
  }

  private static StartedCall nap(WorkerPool pool, String millis) throws Exception {
    return pool.start("nap", Pools.bytes(millis), CallOptions.DEFAULT);
  }

  @Test
  void callsThatAreShortRunOnTheThreadThatFetchesThem() throws Exception {
    try (WorkerPool pool = openPool()) {
      assertThat(call(pool, "nap", "0")).as("the first").isEqualTo("virtual");
      makeShort(pool);
    }
  }

  @Test
  void callsThatAreNotShortRunOnVirtualThreads() throws Exception {
    try (WorkerPool pool = openPool()) {
      for (int i = 0; i < 100; i++) {
        assertThat(call(pool, "nap", "1")).isEqualTo("virtual");
      }
    }
  }

  /** Repeated, because the two threads then have swapped roles. */
  @Test
  void aCallThatTakesLongAfterAllHoldsNobodyUpAndCanBeCancelled() throws Exception {
    try (WorkerPool pool = openPool()) {
      for (int i = 0; i < 5; i++) {
        makeShort(pool);
        StartedCall held = nap(pool, "60000");
        assertThat(call(pool, "upper", "meanwhile")).isEqualTo("MEANWHILE");
        held.cancel();
        assertThatExceptionOfType(CancellationException.class).isThrownBy(held::await);
        await().until(() -> inFlight(pool) == 0);
      }
    }
  }

  @Test
  void callsThatTakeLongAfterAllAreAnsweredBeforeTheWorkerLeaves() throws Exception {
    List<StartedCall> held = new ArrayList<>();
    try (WorkerPool pool = openPool()) {
      makeShort(pool);
      for (int i = 0; i < 20; i++) {
        held.add(nap(pool, "300"));
      }
    }
    for (StartedCall answer : held) {
      assertThat(answer.await()).isNotEmpty();
    }
  }

  /** The stand-in stops looking after a while; the first call then must wake it. */
  @Test
  void aCallThatTakesLongAfterAQuietWhileHoldsNobodyUpEither() throws Exception {
    try (WorkerPool pool = openPool()) {
      makeShort(pool);
      Thread.sleep(200); // nothing tells when it stops looking, but that takes a tenth of this
      StartedCall held = nap(pool, "60000");
      assertThat(call(pool, "upper", "meanwhile")).isEqualTo("MEANWHILE");
      held.cancel();
    }
  }
}
