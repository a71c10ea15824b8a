package dev.belfry.workers;

import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static dev.belfry.workers.Pools.options;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers on virtual threads receive their own answers, but not at the expense of others. */
@Timeout(120)
final class VirtualCallersTest {
  private static final CallOptions BRIEF = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(50));

  /**
   * Each caller used to be woken by the pool's loop, which took longer than all the rest of a short
   * call.
   */
  @Test
  void aVirtualThreadTakesItsAnswerWithoutTheLoop() throws Exception {
    Assumptions.assumeTrue(CarriersTest.COUNT > 1, "the only carrier is left to others");
    var held = new HeldLoop();
    try (WorkerPool pool = WorkerPool.open(options(0).workers(2).spares(0).listener(held));
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      held.reached.await();
      try {
        assertThat(virtual.submit(() -> isOneAnswered(pool)).get()).isTrue();
      } finally {
        held.goesOn.countDown();
      }
    }
  }

  /**
   * Retries, because a worker that must wait for a processor answers too late for a caller that
   * only looks.
   */
  private static boolean isOneAnswered(WorkerPool pool) throws Exception {
    for (int i = 0; i < 200; i++) {
      try {
        pool.call("upper", bytes("looks"), BRIEF);
        return true;
      } catch (DeadlinePassed _) {
        // the next may have more luck
      }
    }
    return false;
  }

  @Test
  void nobodyKeepsACarrierAfterItsCall() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0));
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> calls = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        calls.add(virtual.submit(() -> call(pool, "upper", "answered")));
        calls.add(virtual.submit(() -> call(pool, "fail", "failed")));
        calls.add(virtual.submit(() -> pool.start("upper", bytes("started")).await()));
        calls.add(virtual.submit(() -> pool.call("sleep", bytes("100"), BRIEF)));
      }
      calls.get(calls.size() / 2).cancel(true);
    } // waits for all of them
    try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      assertThat(virtual.submit(CarriersTest::keepAll).get()).isEqualTo(CarriersTest.COUNT - 1);
    }
  }

  /** Blocks the pool's loop once the second worker is ready. */
  private static final class HeldLoop implements PoolListener {
    final CountDownLatch reached = new CountDownLatch(2);
    final CountDownLatch goesOn = new CountDownLatch(1);

    @Override
    public void onReady(String worker, int pid) {
      reached.countDown();
      if (reached.getCount() == 0) {
        try {
          goesOn.await();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
    }
  }
}
