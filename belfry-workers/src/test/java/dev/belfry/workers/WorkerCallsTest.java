package dev.belfry.workers;

import static dev.belfry.workers.Pools.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.loop.EventLoopGroup;
import dev.belfry.loop.LoopOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The calls of one worker, observed more closely than through a pool. */
@Timeout(120)
final class WorkerCallsTest {
  private static final int CALLS = 500;
  private static final CallOptions OVERDUE = CallOptions.DEFAULT.withDeadline(Duration.ofNanos(1));

  /**
   * The worker was told of the call's end before it got the call, went on with it, and was killed.
   */
  @Test
  void aCallThatEndsWhileItIsSentIsGivenUpByItsWorkerToo() throws Exception {
    try (Supervised one = Supervised.start(Pools.options(0).workers(1).spares(0))) {
      endWhileSent(one.worker().calls(), one.meter());
    }
  }

  /**
   * One error, such as an OutOfMemoryError, and no started call ended with its deadline any more.
   */
  @Test
  void startedCallsEndWithTheirDeadlinesThoughEndingOneHasFailed() throws Exception {
    try (Supervised one = Supervised.start(Pools.options(0).workers(1).spares(0))) {
      WorkerCalls calls = one.worker().calls();
      for (Call call : List.of(failing(), sleeping(one.meter()))) {
        calls.offer(call);
        await().until(call::isDone);
      }
    }
  }

  /** The same for submitted calls. */
  @Test
  void submittedCallsEndWithTheirDeadlinesThoughEndingOneHasFailed() throws Exception {
    try (EventLoopGroup group = EventLoopGroup.open(1, LoopOptions.DEFAULT)) {
      group.start();
      var deadlines = new Deadlines(group.next());
      for (Call call : List.of(failing(), sleeping(new CallMeter(0)))) {
        deadlines.watch(call);
        await().until(call::isDone);
      }
    }
  }

  private static void endWhileSent(WorkerCalls calls, CallMeter meter) throws InterruptedException {
    var over = new AtomicBoolean();
    Thread watch =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!over.get()) {
                    calls.endOverdue();
                  }
                });
    try {
      for (int i = 0; i < CALLS; i++) {
        calls.offer(sleeping(meter));
        while (calls.load() > 0) {
          Thread.onSpinWait();
        }
        assertThat(calls.state()).as("after %d calls", i).isEqualTo(WorkerState.READY);
      }
    } finally {
      over.set(true);
      watch.join();
    }
  }

  /** A call that cannot be counted when it ends. */
  @SuppressWarnings("NullAway") // that is why
  private static Call failing() {
    return sleeping(null);
  }

  private static Call sleeping(CallMeter meter) {
    long method = Protocol.methodId("sleep");
    return new Call(
        "sleep", method, bytes("60000"), OVERDUE, null, new CompletableFuture<>(), meter);
  }
}
