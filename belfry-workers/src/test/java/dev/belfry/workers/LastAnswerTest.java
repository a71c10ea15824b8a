package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import dev.belfry.shm.SegmentSnapshot;
import dev.belfry.shm.ShmHost;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a worker had answered before it died. */
@Timeout(120)
final class LastAnswerTest extends QuickWorkers {
  /** Nobody has read it yet when its worker dies. */
  @ParameterizedTest
  @EnumSource
  void anAnswerThatWasWrittenCountsAndItsCallIsNotRepeated(Delivery delivery) throws Exception {
    try (Supervised one = Supervised.start(options())) {
      PooledWorker worker = one.worker();
      int pid = worker.peer().pid().orElseThrow();
      var answer = new CompletableFuture<byte[]>();
      var call =
          new Call(
              "upper",
              Protocol.methodId("upper"),
              bytes("last words"),
              CallOptions.DEFAULT.withDelivery(delivery),
              null,
              answer,
              one.meter());
      CountDownLatch distraction = distract(one.host());
      assertThat(unread(one.host())).isZero();
      assertThat(worker.calls().offer(call)).isTrue();
      await().until(() -> unread(one.host()) == 1);
      Pools.kill(pid, Signo.KILL);
      await().until(() -> !isRunning(pid));
      assertThat(answer).isNotDone();
      distraction.countDown();
      assertThat(answer).succeedsWithin(LONG).isEqualTo(bytes("LAST WORDS"));
      await().until(() -> one.supervisor().deaths() == 1);
      assertThat(one.meter().repeatedCount()).isZero();
    }
  }

  /** Nor was anyone told of it: the loop learns of the death first. */
  @Test
  void anAnswerThatNobodyWasToldOfCountsToo() throws Exception {
    try (Supervised one = Supervised.start(options())) {
      PooledWorker worker = one.worker();
      int pid = worker.peer().pid().orElseThrow();
      var call =
          new Call(
              "upper",
              Protocol.methodId("upper"),
              bytes("last words"),
              CallOptions.DEFAULT,
              null,
              null,
              one.meter());
      CountDownLatch distraction = distract(one.host());
      assertThat(worker.peer().tryReceiving()).isTrue();
      worker.peer().endReceivingDeaf();
      assertThat(worker.calls().offer(call)).isTrue();
      await().until(() -> unread(one.host()) == 1);
      Pools.kill(pid, Signo.KILL);
      await().until(() -> !isRunning(pid));
      distraction.countDown();
      await().until(() -> one.supervisor().deaths() == 1);
      assertThat(one.meter().repeatedCount()).isZero();
      assertThat(call.isDone()).isTrue();
    }
  }

  /** The number of messages that lie in the first worker's ring. */
  private static long unread(ShmHost host) {
    return SegmentSnapshot.of(host.segment()).peers().getFirst().toHost().depth();
  }

  /** Keeps the loop from noticing anything until the latch is released. */
  private static CountDownLatch distract(ShmHost host) throws InterruptedException {
    var begun = new CountDownLatch(1);
    var over = new CountDownLatch(1);
    host.loop()
        .scheduler()
        .execute(
            () -> {
              begun.countDown();
              try {
                over.await();
              } catch (InterruptedException e) {
                throw new AssertionError("nobody interrupts it", e);
              }
            });
    begun.await();
    return over;
  }
}
