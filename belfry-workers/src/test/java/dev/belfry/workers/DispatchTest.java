package dev.belfry.workers;

import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.open;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which worker gets a call. */
@Timeout(120)
final class DispatchTest extends QuickWorkers {
  @Test
  void theLeastLoadedWorkerGetsTheNextCall() throws Exception {
    int workers = 3;
    try (WorkerPool pool = open(options().workers(workers).callsPerWorker(8))) {
      var calls = new ArrayList<CompletableFuture<byte[]>>();
      for (int each = 1; each <= 4; each++) {
        for (int i = 0; i < workers; i++) {
          calls.add(pool.submit("sleep", bytes("60000")));
        }
        assertThat(pool.status().workers())
            .extracting(PoolStatus.WorkerStatus::inFlight)
            .containsOnly(each);
      }
      calls.forEach(call -> call.cancel(true));
    }
  }
}
