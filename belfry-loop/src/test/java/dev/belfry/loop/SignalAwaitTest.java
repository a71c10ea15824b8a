package dev.belfry.loop;

import static dev.belfry.loop.SignalLoop.PID;
import static dev.belfry.loop.SignalLoop.RT;
import static dev.belfry.loop.SignalLoop.RT2;
import static dev.belfry.loop.SignalLoop.kill;
import static dev.belfry.loop.SignalLoop.queue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.linux.Signo;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.SignalLoop.Waiter;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

@InSignalJvm
final class SignalAwaitTest {
  private static final int UID = uid();

  // r[verify sig.await.basic] r[verify sig.await.loop-thread]
  @EveryBackend
  void aCallbackGetsASignalWithItsDetailsOnTheLoopThread(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, Signo.USR1)) {
      var resumed = new CompletableFuture<Thread>();
      SignalOperation wait = tested.service.next(Signo.USR1);
      wait.start(_ -> resumed.complete(Thread.currentThread()));
      kill(Signo.USR1);
      tested.drive(resumed::isDone);

      assertFromUs(wait.result());
      assertThat(resumed.join()).isSameAs(Thread.currentThread());
    }
  }

  // r[verify sig.await.basic] r[verify sig.await.loop-thread]
  @EveryBackend
  void aCoroutineGetsASignalOnTheThreadOfItsOwnLoop(Backend backend) throws Exception {
    try (Driven one = Driven.open(backend);
        Driven other = Driven.open(backend)) {
      record Resumed(SignalInfo info, @Nullable Thread carrier) {}
      var results = new ArrayList<CompletableFuture<Resumed>>();
      for (Driven driven : List.of(one, other)) {
        int signum = driven == one ? Signo.USR1 : Signo.USR2;
        var service = new SignalService(driven.loop());
        var attached = new CompletableFuture<Void>();
        Coroutine<Resumed> coroutine =
            driven
                .loop()
                .spawn(
                    "waiter",
                    () -> {
                      service.attach(SignalSet.of(signum));
                      attached.complete(null);
                      SignalInfo info = service.await(signum);
                      return new Resumed(info, LoopCarrier.currentCarrier());
                    });
        LoopSupport.get(attached);
        results.add(coroutine.result());
      }
      kill(Signo.USR2);
      kill(Signo.USR1);
      assertFromUs(LoopSupport.get(results.getFirst()).info());
      assertThat(LoopSupport.get(results.getFirst()).carrier()).isSameAs(one.thread());
      assertThat(LoopSupport.get(results.getLast()).carrier()).isSameAs(other.thread());
    }
  }

  // r[verify sig.await.basic]
  @EveryBackend
  void aFutureAndAThreadElsewhereGetASignal(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var service = new SignalService(driven.loop());
      SignalLoop.attach(driven, service, Signo.USR1);
      CompletableFuture<SignalInfo> future = service.next(Signo.USR1).toFuture();
      kill(Signo.USR1);
      assertFromUs(LoopSupport.get(future));
      kill(Signo.USR1);
      assertFromUs(service.await(Signo.USR1));
    }
  }

  // r[verify sig.await.pending-first]
  @EveryBackend
  void aSignalThatWasReceivedIsTakenWithoutWaiting(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, Signo.USR1)) {
      kill(Signo.USR1);
      tested.drive(() -> tested.pending(Signo.USR1) == 1);

      SignalInfo info =
          tested.call(
              () -> {
                Waiter waiter = tested.waiter(Signo.USR1);
                assertThat(tested.hasWaiter(Signo.USR1)).isFalse();
                assertThat(waiter.operation.state()).isEqualTo(SignalWaitState.RESUMED);
                assertThat(waiter.isDone()).as("inside start").isFalse();
                return waiter.operation.value();
              });
      assertFromUs(info);

      kill(Signo.USR1);
      tested.drive(() -> tested.pending(Signo.USR1) == 1);
      Coroutine<Integer> coroutine =
          tested.loop.spawn(
              "waiter",
              () -> {
                int turn = tested.loop.turn();
                assertFromUs(tested.service.await(Signo.USR1));
                return tested.loop.turn() - turn;
              });
      tested.drive(coroutine.result()::isDone);
      assertThat(coroutine.result().join()).as("turns").isZero();
    }
  }

  // r[verify sig.await.recheck]
  @EveryBackend
  void aSignalThatComesWhileAWaitIsOnItsWayToTheLoopIsTaken(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (SignalLoop tested = SignalLoop.attached(backend, tap, Signo.USR1)) {
      var waiters = new ArrayList<Waiter>();
      String wait = WaitLog.call(backend);
      // When the loop is about to wait for the kernel, another thread starts a wait, and the signal
      // comes: the loop reads it before it sees the wait.
      tap.script(
          wait,
          (nth, _) -> {
            if (nth == 1) {
              onAnotherThread(
                  () -> {
                    waiters.add(tested.waiter(Signo.USR1));
                    kill(Signo.USR1);
                  });
            }
            return OptionalLong.empty();
          });
      tested.drive(() -> !waiters.isEmpty() && waiters.getFirst().isDone());

      assertFromUs(waiters.getFirst().operation.result());
      assertThat(tested.pending(Signo.USR1)).isZero();
    }
  }

  // r[verify sig.await.posted]
  @EveryBackend
  void allThatOneReadBringsIsDispatchedBeforeTheFirstIsResumed(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, Signo.USR1, RT, RT2)) {
      var waits = new ArrayList<SignalOperation>();
      var seen = new ArrayList<List<SignalWaitState>>();
      for (int signum : new int[] {Signo.USR1, RT, RT2}) {
        SignalOperation wait = tested.service.next(signum);
        waits.add(wait);
        wait.start(_ -> seen.add(waits.stream().map(SignalOperation::state).toList()));
      }
      tested.settle();
      queue(RT2, 1);
      queue(RT, 1);
      kill(Signo.USR1);
      tested.drive(() -> seen.size() == 3);

      assertThat(seen.getFirst())
          .containsExactly(
              SignalWaitState.RESUMED, SignalWaitState.NOTIFIED, SignalWaitState.NOTIFIED);
    }
  }

  // r[verify sig.await.timed]
  @EveryBackend
  void aWaitEndsWhenItsTimeIsUp(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      long began = System.nanoTime();
      SignalOperation operation = tested.service.next(RT).within(Duration.ofMillis(20));
      var waiter = new Waiter(operation);
      tested.drive(waiter::isDone);

      assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(20_000_000);
      assertThatExceptionOfType(TimedOutException.class)
          .isThrownBy(operation::result)
          .withMessageContaining("{SIGRTMIN+6}");
      assertThat(tested.hasWaiter(RT)).isFalse();
      queue(RT, 5);
      var again = new Waiter(operation);
      tested.drive(again::isDone);
      assertThat(again.value()).isEqualTo(5);
      assertThat(tested.loop.timers.pending()).isZero();
    }
  }

  // r[verify sig.await.timed]
  @EveryBackend
  void aTimedWaitInACoroutineGivesTheSignalOrNothing(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      SignalService service = tested.service;
      Coroutine<List<Boolean>> coroutine =
          tested.loop.spawn(
              "waiter",
              () -> {
                boolean none = service.await(RT, Duration.ofMillis(2)).isEmpty();
                queue(RT, 1);
                boolean one = service.await(RT, Duration.ofHours(1)).isPresent();
                return List.of(none, one);
              });
      tested.drive(coroutine.result()::isDone);
      assertThat(coroutine.result().join()).containsExactly(true, true);
    }
  }

  // r[verify sig.await.any]
  @EveryBackend
  void aWaitForAnyIsResumedOnceAndTheOtherSignalStays(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, Signo.USR1, Signo.USR2)) {
      SignalSet both = SignalSet.of(Signo.USR1, Signo.USR2);
      var any = new Waiter(tested.service.nextAny(both));
      tested.settle();
      kill(Signo.USR2);
      kill(Signo.USR1);
      tested.drive(any::isDone);
      tested.settle();

      int first = any.operation.result().signum();
      int other = first == Signo.USR1 ? Signo.USR2 : Signo.USR1;
      assertThat(tested.hasWaiter(first) || tested.hasWaiter(other)).isFalse();
      assertThat(tested.pending(first)).isZero();
      assertThat(tested.pending(other)).isEqualTo(1);
      Waiter next = tested.waiter(other);
      tested.drive(next::isDone);
      assertThat(next.operation.result().signum()).isEqualTo(other);
    }
  }

  // r[verify sig.await.any]
  @EveryBackend
  void aWaitForAnyTakesTheOldestOfWhatIsPending(Backend backend) throws Exception {
    for (List<Integer> order : List.of(List.of(RT, RT2), List.of(RT2, RT))) {
      try (SignalLoop tested = SignalLoop.attached(backend, RT, RT2)) {
        for (int signum : order) {
          queue(signum, 1);
          tested.drive(() -> tested.pending(signum) == 1);
        }
        Coroutine<List<Integer>> coroutine =
            tested.loop.spawn(
                "waiter",
                () -> {
                  SignalSet both = SignalSet.of(RT, RT2);
                  SignalService here = SignalService.current();
                  return List.of(here.awaitAny(both).signum(), here.awaitAny(both).signum());
                });
        tested.drive(coroutine.result()::isDone);
        assertThat(coroutine.result().join()).isEqualTo(order);
      }
    }
  }

  // r[verify sig.await.api]
  @EveryBackend
  void aSignalThatIsNotAttachedCannotBeWaitedFor(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var service = new SignalService(driven.loop());
      assertThatIllegalStateException()
          .isThrownBy(() -> service.await(Signo.USR1))
          .withMessageContaining("{SIGUSR1} cannot be waited for");
      SignalLoop.attach(driven, service, Signo.USR1);
      assertThatIllegalStateException()
          .isThrownBy(() -> service.awaitAny(SignalSet.of(Signo.USR1, Signo.USR2)))
          .withMessageStartingWith("{SIGUSR2} cannot be waited for");
      for (int none : new int[] {0, -1, 65, Signo.KILL}) {
        assertThatIllegalArgumentException().isThrownBy(() -> service.next(none));
      }
      assertThatIllegalArgumentException().isThrownBy(() -> service.nextAny(SignalSet.of()));
    }
  }

  // r[verify sig.attach]
  @EveryBackend
  void theSignalThisJvmSuspendsThreadsWithIsRefused(Backend backend) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SignalSet.of(64))
        .withMessageContaining("this JVM suspends threads with it");
  }

  private static void assertFromUs(SignalInfo info) {
    assertThat(info).isEqualTo(new SignalInfo(Signo.USR1, 0, PID, UID, 0, 0, info.value()));
    assertThat(info.name()).isEqualTo("SIGUSR1");
  }

  private interface Action {
    void run() throws IOException;
  }

  private static void onAnotherThread(Action action) {
    var done = new CompletableFuture<Void>();
    Thread.ofPlatform()
        .start(
            () -> {
              try {
                action.run();
                done.complete(null);
              } catch (IOException | RuntimeException | Error e) {
                done.completeExceptionally(e);
              }
            });
    done.join();
  }

  private static int uid() {
    try {
      return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
