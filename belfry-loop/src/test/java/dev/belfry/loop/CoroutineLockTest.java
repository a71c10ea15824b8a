package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Coroutines that yield the loop thread other than by awaiting an operation. */
final class CoroutineLockTest {
  @EveryBackend
  void unparkingFromManyThreadsLosesNoCoroutine(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(2_000, 50_000);
    try (Driven driven = Driven.open(backend)) {
      var turn = new AtomicInteger();
      Coroutine<Void> coroutine =
          driven
              .loop()
              .spawn(
                  "parker",
                  () -> {
                    while (turn.get() < rounds) {
                      LockSupport.park();
                    }
                  });
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < 4; i++) {
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      while (turn.incrementAndGet() < rounds + 8) {
                        LockSupport.unpark(coroutine.thread());
                      }
                      LockSupport.unpark(coroutine.thread());
                    }));
      }
      LoopSupport.get(coroutine.result());
      for (Thread thread : threads) {
        LoopSupport.join(thread);
      }
    }
  }

  // A coroutine that blocks on a lock yields the thread, even in the middle of a start. Regression:
  // a cancel that came then withdrew an operation that had not begun, and it completed twice.
  // r[verify loop.mt.lifetime]
  @EveryBackend
  void aCancelReachesAStartThatWaitsForALock(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var source = new StopSource();
      StopToken token = source.token();
      TimerOperation timer = loop.scheduler().after(Duration.ofHours(1));
      Coroutine<Boolean> waiter;
      synchronized (token) {
        waiter = awaitingItsStop(timer, token);
        LoopSupport.await(() -> waiter.thread().getState() == Thread.State.BLOCKED);
        timer.cancel();
        LoopSupport.get(loop.scheduler().schedule().toFuture()); // the loop has seen the cancel
      }
      assertThat(LoopSupport.get(waiter.result())).isTrue();
      checkCounts(loop);
    }
  }

  // r[verify loop.mt.lifetime]
  @EveryBackend
  void aCompletionThatWaitsForALockHappensOnce(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var source = new StopSource();
      StopToken token = source.token();
      TimerOperation timer = loop.scheduler().after(Duration.ofHours(1));
      Coroutine<Boolean> waiter = awaitingItsStop(timer, token);
      LoopSupport.await(() -> waiter.thread().getState() == Thread.State.WAITING);
      synchronized (token) {
        waiter.cancel(); // it cancels the timer and blocks on the token's lock
        LoopSupport.await(() -> waiter.thread().getState() == Thread.State.BLOCKED);
        timer.cancel();
        LoopSupport.get(loop.scheduler().schedule().toFuture());
      }
      assertThat(LoopSupport.get(waiter.result())).isTrue();
      checkCounts(loop);
    }
  }

  /** A coroutine that awaits an operation and returns whether it was stopped. */
  private static Coroutine<Boolean> awaitingItsStop(Operation<?> operation, StopToken token) {
    return operation.loop.spawn(
        "waiter",
        () -> {
          try {
            operation.await(token);
            return false;
          } catch (StoppedException e) {
            return true;
          }
        });
  }

  private static void checkCounts(EventLoop loop) throws Exception {
    var counts = new CompletableFuture<String>();
    loop.scheduler().execute(() -> counts.complete(loop.inFlight() + " " + loop.timers.pending()));
    assertThat(LoopSupport.get(counts)).isEqualTo("0 0");
  }
}
