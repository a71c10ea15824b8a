package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lock that virtual threads spin for. */
@Timeout(60)
final class BriefLockTest {
  /** All carriers used to spin for an owner that none of them was left to carry. */
  @Test
  void anOwnerThatLostItsCarrierGetsOneAgain() throws Exception {
    var lock = new BriefLock();
    var taken = new CountDownLatch(1);
    var mayEnd = new CountDownLatch(1);
    var threads = new ArrayList<Thread>();
    threads.add(
        Thread.startVirtualThread(
            () -> {
              lock.take();
              taken.countDown();
              awaitUninterrupted(mayEnd); // it loses its carrier, as it might at a monitor
              lock.end();
            }));
    assertThat(taken.await(30, TimeUnit.SECONDS)).isTrue();
    int carriers = Runtime.getRuntime().availableProcessors();
    var spinning = new CountDownLatch(carriers);
    for (int i = 0; i < carriers; i++) {
      threads.add(
          Thread.startVirtualThread(
              () -> {
                spinning.countDown();
                lock.take();
                lock.end();
              }));
    }
    assertThat(spinning.await(30, TimeUnit.SECONDS)).isTrue();
    mayEnd.countDown();
    for (Thread thread : threads) {
      assertThat(thread.join(Duration.ofSeconds(30))).as("got the lock").isTrue();
    }
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts it", e);
    }
  }
}
