package dev.belfry.loop;

import static dev.belfry.loop.SignalLoop.RT;
import static dev.belfry.loop.SignalLoop.queue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.SignalLoop.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

@InSignalJvm
final class SignalCancelTest {

  // r[verify sig.cancel.waiting]
  @EveryBackend
  void theNextWaiterGetsTheSignalOfOneThatWasCancelled(Backend backend) throws Exception {
    List<Consumer<SignalOperation>> ways = List.of(SignalOperation::cancel, SignalOperation::close);
    for (Consumer<SignalOperation> way : ways) {
      try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
        Waiter first = tested.waiter(RT);
        Waiter second = tested.waiter(RT);
        tested.settle();
        way.accept(first.operation);
        queue(RT, 7);
        tested.drive(second::isDone);

        assertThat(first.outcome()).isEqualTo(Outcome.STOPPED);
        assertThat(first.operation.state()).isEqualTo(SignalWaitState.CANCELED);
        assertThat(second.value()).isEqualTo(7);
      }
    }
  }

  // r[verify sig.cancel.waiting]
  @EveryBackend
  void withoutANextWaiterTheSignalIsPending(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      Waiter first = tested.waiter(RT);
      first.operation.cancel();
      tested.drive(first::isDone);
      queue(RT, 7);
      tested.drive(() -> tested.pending(RT) == 1);
      Waiter later = tested.waiter(RT);
      tested.drive(later::isDone);

      assertThat(first.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(later.value()).isEqualTo(7);
    }
  }

  // r[verify sig.cancel.waiting]
  @EveryBackend
  void aTokenAndAnInterruptCancelACoroutinesWait(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      var stop = new StopSource();
      Coroutine<SignalInfo> byToken =
          tested.loop.spawn("token", () -> tested.service.next(RT).await(stop.token()));
      Coroutine<SignalInfo> byInterrupt =
          tested.loop.spawn("interrupt", () -> tested.service.await(RT));
      Coroutine<SignalInfo> last = tested.loop.spawn("last", () -> tested.service.await(RT));
      tested.settle();
      stop.requestStop();
      byInterrupt.cancel();
      tested.settle();
      queue(RT, 7);
      tested.drive(last.result()::isDone);

      assertThat(byToken.result()).isCancelled();
      assertThat(byInterrupt.result()).isCancelled();
      assertThat(last.result().join().intValue()).isEqualTo(7);
    }
  }

  // r[verify sig.cancel.notified]
  @EveryBackend
  void aRecordOfACancelledWaiterGoesToTheNext(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      var trigger = new AtomicInteger();
      SignalOperation wait = tested.service.next(RT);
      var cancelled = new ArrayList<Waiter>();
      // It is resumed first, and cancels the one that was notified after it.
      wait.start(
          _ -> {
            trigger.incrementAndGet();
            assertThat(cancelled.getFirst().operation.state()).isEqualTo(SignalWaitState.NOTIFIED);
            cancelled.getFirst().operation.cancel();
          });
      cancelled.add(tested.waiter(RT));
      Waiter next = tested.waiter(RT);
      tested.settle();
      queue(RT, 1, 2);
      tested.drive(() -> next.isDone() && cancelled.getFirst().isDone());

      assertThat(trigger).hasValue(1);
      assertThat(cancelled.getFirst().outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(next.value()).isEqualTo(2);
      assertThat(tested.pending(RT)).isZero();
    }
  }

  // r[verify sig.cancel.notified]
  @EveryBackend
  void recordsOfCancelledWaitersGoBackToTheHeadOfWhatIsPending(Backend backend) throws Exception {
    EventLoop loop = EventLoop.open(backend);
    try (SignalLoop tested = SignalLoop.attached(loop, 1, RT)) { // the limit does not apply
      var cancelled = new ArrayList<Waiter>();
      tested.service.next(RT).start(_ -> cancelled.forEach(waiter -> waiter.operation.cancel()));
      cancelled.add(tested.waiter(RT));
      cancelled.add(tested.waiter(RT));
      tested.settle();
      queue(RT, 1, 2, 3, 4);
      tested.drive(() -> cancelled.stream().allMatch(Waiter::isDone));

      assertThat(cancelled).allMatch(waiter -> waiter.outcome() == Outcome.STOPPED);
      var values = new ArrayList<Integer>();
      tested.call(
          () -> {
            for (int i = 0; i < 3; i++) {
              values.add(tested.service.tryTake(RT).orElseThrow().intValue());
            }
            return tested.service.tryTake(RT);
          });
      assertThat(values).containsExactly(2, 3, 4);
    }
  }

  // r[verify sig.cancel.notified]
  @EveryBackend
  void anInterruptedCoroutineHandsItsRecordOn(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      var cancelled = new ArrayList<Coroutine<SignalInfo>>();
      tested.service.next(RT).start(_ -> cancelled.getFirst().cancel());
      tested.settle();
      cancelled.add(tested.loop.spawn("cancelled", () -> tested.service.await(RT)));
      tested.settle();
      queue(RT, 1, 2);
      tested.drive(cancelled.getFirst().result()::isDone);

      // If its turn comes before it sees the interrupt, it has the record; otherwise the record is
      // here.
      if (cancelled.getFirst().result().isCompletedExceptionally()) {
        assertThat(tested.call(() -> tested.service.tryTake(RT).orElseThrow().intValue()))
            .isEqualTo(2);
      } else {
        assertThat(cancelled.getFirst().result().join().intValue()).isEqualTo(2);
        assertThat(tested.pending(RT)).isZero();
      }
    }
  }

  // r[verify sig.cancel.notified]
  @EveryBackend
  void aRecordForAFutureThatWasCancelledTooLateIsKept(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      var future = new ArrayList<CompletableFuture<SignalInfo>>();
      // It is resumed first, while the other has its signal. Another thread cancels the future, and
      // its cancel reaches the loop only after the future has refused the signal.
      tested
          .service
          .next(RT)
          .start(
              _ ->
                  CompletableFuture.runAsync(
                          () -> future.getFirst().cancel(true), Thread.ofPlatform()::start)
                      .join());
      tested.settle();
      future.add(tested.service.next(RT).toFuture());
      tested.settle();
      queue(RT, 1, 2);
      tested.drive(() -> future.getFirst().isDone());
      tested.settle();
      assertThat(tested.call(() -> tested.service.tryTake(RT).orElseThrow().intValue()))
          .isEqualTo(2);
      assertThat(future.getFirst()).isCancelled();
    }
  }

  // r[verify sig.cancel.no-locks]
  @EveryBackend
  void cancelsFromManyThreadsCompleteOnTheLoopThread(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var service = new SignalService(driven.loop());
      SignalLoop.attach(driven, service, RT);
      int each = 200;
      var elsewhere = new AtomicInteger();
      var done = new CountDownLatch(8 * each);
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < 8; i++) {
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      for (int n = 0; n < each; n++) {
                        SignalOperation wait = service.next(RT);
                        wait.start(
                            stopped -> {
                              if (Thread.currentThread() != driven.thread()
                                  || stopped.outcome() != Outcome.STOPPED) {
                                elsewhere.incrementAndGet();
                              }
                              done.countDown();
                            });
                        wait.cancel();
                      }
                    }));
      }
      for (Thread thread : threads) {
        LoopSupport.join(thread);
      }
      LoopSupport.await(done);
      assertThat(elsewhere).hasValue(0);
      assertThatIllegalStateException()
          .isThrownBy(() -> service.attach(SignalSet.of(RT)))
          .withMessageStartingWith("attach is for the thread of the loop");
      assertThatIllegalStateException().isThrownBy(service::detach);
      assertThatIllegalStateException().isThrownBy(() -> service.tryTake(RT));
      assertThatIllegalStateException().isThrownBy(SignalService::current);
    }
  }

  // r[verify sig.shutdown.loop]
  @EveryBackend
  void aWaiterThatWasNotifiedWhenTheLoopEndsIsStopped(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      tested.service.next(RT).start(_ -> tested.loop.requestStop());
      Waiter notified = tested.waiter(RT);
      Waiter waiting = tested.waiter(RT);
      Coroutine<SignalInfo> coroutine = tested.loop.spawn("c", () -> tested.service.await(RT));
      tested.settle();
      queue(RT, 1, 2);
      tested.loop.run();

      assertThat(notified.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(waiting.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(coroutine.result()).isCancelled();
      assertThat(tested.service.isAttached()).isFalse();
      assertThatExceptionOfType(StoppedException.class)
          .isThrownBy(() -> tested.service.next(RT).await());
    }
  }

  // Regression: a wait that a callback started after requesting a stop took a pending signal.
  // r[verify sig.shutdown.loop]
  @EveryBackend
  void aWaitThatIsStartedAfterTheStopRequestGetsNoSignal(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      queue(RT, 1);
      tested.drive(() -> tested.pending(RT) == 1);
      var late = new CompletableFuture<Waiter>();
      tested
          .loop
          .scheduler()
          .execute(
              () -> {
                tested.loop.requestStop();
                late.complete(tested.waiter(RT));
              });
      tested.loop.run();
      assertThat(late.join().outcome()).isEqualTo(Outcome.STOPPED);
    }
  }
}
