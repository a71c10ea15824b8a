package dev.belfry.loop;

import static dev.belfry.loop.SignalLoop.RT;
import static dev.belfry.loop.SignalLoop.SYS;
import static dev.belfry.loop.SignalLoop.kill;
import static dev.belfry.loop.SignalLoop.queue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalClaim;
import dev.belfry.linux.SignalMask;
import dev.belfry.linux.Signo;
import dev.belfry.linux.ThreadSignals;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.SignalLoop.Waiter;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

@InSignalJvm
final class SignalAttachTest {

  // r[verify sig.attach] r[verify sig.attach.one-loop]
  @EveryBackend
  void aLoopHasOneAttachedService(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      Descriptors before = Descriptors.now();
      assertThatIllegalStateException()
          .isThrownBy(() -> tested.attach(Signo.USR1))
          .withMessage("the signal service is attached already: detach it first");
      var second = new SignalLoop(tested.loop, new SignalService(tested.loop));
      assertThatIllegalStateException()
          .isThrownBy(() -> second.attach(Signo.USR1))
          .withMessageStartingWith("the loop has an attached signal service");
      assertThatIllegalStateException()
          .isThrownBy(() -> new SignalService(tested.loop).attach(SignalSet.of(RT)))
          .withMessageStartingWith("attach is for the thread of the loop");
      assertThat(before.openedSince()).isEmpty();
      assertThat(tested.call(SignalService::current)).isSameAs(tested.service);
      detach(tested);
      assertThatIllegalStateException().isThrownBy(() -> tested.call(SignalService::current));
      second.attach(Signo.USR1);
      assertThat(tested.call(SignalService::current)).isSameAs(second.service);
    }
  }

  // Regression: a loop driven inside a callback of another loop was taken for that loop.
  // r[verify sig.attach.one-loop]
  @EveryBackend
  void aLoopInsideAnotherHasAServiceOfItsOwn(Backend backend) throws Exception {
    try (SignalLoop outer = SignalLoop.attached(backend, RT);
        SignalLoop inner = SignalLoop.open(backend)) {
      outer.call(
          () -> {
            inner.attach(Signo.USR1);
            return true;
          });
      Waiter waiter = inner.waiter(Signo.USR1);
      kill(Signo.USR1);
      inner.drive(waiter::isDone);
      assertThat(waiter.outcome()).isEqualTo(Outcome.VALUE);
    }
  }

  // r[verify sig.attach]
  @EveryBackend
  void afterAFailureNothingIsLeftAndItCanBeTriedAgain(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    var held = new AtomicReference<>(SigSet.EMPTY);
    EventLoop loop = LoopSupport.open(backend, tap);
    try (SignalLoop tested = new SignalLoop(loop, new SignalService(loop));
        SignalClaim _ = SignalClaim.take(SigSet.of(RT), held::set)) {
      tested.settle();
      Descriptors before = Descriptors.now();

      tap.failAt("signalfd", 1, Errno.EMFILE);
      assertFails(tested, Errno.EMFILE);
      tap.failAt("signalfd", 2, Errno.ENOMEM); // the call that sets the signals
      assertFails(tested, Errno.ENOMEM);
      if (backend != Backend.IO_URING) { // whose waits are requests that cannot fail at once
        tap.failAt("epollCtl", 1, Errno.ENOSPC);
        assertFails(tested, Errno.ENOSPC);
      }
      tap.failAt("read", 1, Errno.EIO);
      assertFails(tested, Errno.EIO);

      assertThat(before.openedSince()).isEmpty();
      assertThat(held).hasValue(SigSet.of(RT));
      tested.attach(RT);
      assertThat(held).hasValue(SigSet.EMPTY);
      Waiter waiter = tested.waiter(RT);
      queue(RT, 7);
      tested.drive(waiter::isDone);
      assertThat(waiter.value()).isEqualTo(7);
    }
  }

  private static void assertFails(SignalLoop tested, int errno) {
    assertThatExceptionOfType(ErrnoException.class)
        .isThrownBy(() -> tested.attach(RT))
        .satisfies(failure -> assertThat(failure.errno()).isEqualTo(errno));
    assertThat(tested.service.isAttached()).isFalse();
  }

  // r[verify sig.attach]
  @EveryBackend
  void aThreadThatHasASignalUnblockedIsNamed(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.open(backend)) {
      var unblocked = new CompletableFuture<SigSet>();
      var end = new CountDownLatch(1);
      Thread culprit =
          Thread.ofPlatform()
              .name("culprit")
              .start(
                  () -> {
                    try {
                      unblocked.complete(SignalMask.unblock(SYS, SigSet.of(Signo.USR1)));
                      LoopSupport.await(end);
                    } catch (ErrnoException | InterruptedException e) {
                      unblocked.completeExceptionally(e);
                    }
                  });
      LoopSupport.get(unblocked);
      assertThatIllegalStateException()
          .isThrownBy(() -> tested.attach(Signo.USR1, RT))
          .withMessageContaining("{SIGUSR1} in culprit (")
          .withMessageContaining("env --block-signal=10,40 _JAVA_SR_SIGNUM=64 java -Xrs")
          .withMessageContaining("call SignalLaunch.ensure first in main");
      assertThat(tested.service.isAttached()).isFalse();
      end.countDown();
      LoopSupport.join(culprit);
      LoopSupport.await(() -> !isAlive("culprit"));
      tested.attach(Signo.USR1, RT);
    }
  }

  private static boolean isAlive(String name) {
    try {
      return ThreadSignals.ofThisProcess().stream().anyMatch(thread -> thread.name().equals(name));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  // r[verify sig.attach]
  @EveryBackend
  void whatTheLauncherDoesNotBlockIsRefusedWithWhatHelps(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.open(backend)) {
      assertThatIllegalStateException()
          .isThrownBy(() -> tested.attach(Signo.WINCH))
          .withMessageContaining("{SIGWINCH} in ")
          .withMessageEndingWith("nor SignalLaunch.ensure blocks {SIGWINCH}.");
    }
  }

  // r[verify sig.mask.main]
  @EveryBackend
  void oneCallBlocksASetInTheCallingThread(Backend backend) throws Exception {
    var blocked = new CompletableFuture<List<Boolean>>();
    Thread.ofPlatform()
        .start(
            () -> {
              try {
                SignalMask.unblock(SYS, SigSet.of(Signo.USR1));
                boolean before = mask().contains(Signo.USR1);
                SignalSet.of(Signo.USR1).blockInThisThread();
                blocked.complete(List.of(before, mask().contains(Signo.USR1), mask().contains(RT)));
              } catch (ErrnoException e) {
                blocked.completeExceptionally(e);
              }
            });
    assertThat(LoopSupport.get(blocked)).containsExactly(false, true, true);
    var refused = new CompletableFuture<Exception>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                SignalSet.of(Signo.USR1).blockInThisThread();
              } catch (ErrnoException | IllegalStateException e) {
                refused.complete(e);
              }
            });
    assertThat(LoopSupport.get(refused)).isInstanceOf(IllegalStateException.class);
  }

  private static SigSet mask() throws ErrnoException {
    return SignalMask.block(SYS, SigSet.EMPTY);
  }

  // r[verify sig.attach.one-loop]
  @EveryBackend
  void aServiceOnAnotherLoopTakesASignalOverAndGivesItBack(Backend backend) throws Exception {
    try (SignalLoop first = SignalLoop.attached(backend, RT, Signo.USR1)) {
      try (SignalLoop second = SignalLoop.attached(backend, RT)) {
        Waiter overtaken = first.waiter(RT);
        Waiter kept = first.waiter(Signo.USR1);
        first.settle();
        for (int i = 0; i < 100; i++) {
          Waiter waiter = second.waiter(RT);
          queue(RT, i);
          first.settle();
          second.drive(waiter::isDone);
          assertThat(waiter.value()).isEqualTo(i);
        }
        kill(Signo.USR1);
        first.drive(kept::isDone);
        assertThat(overtaken.isDone()).isFalse();
        queue(RT, 100); // pending in the kernel when the signal changes hands
        detach(second);
        first.drive(overtaken::isDone);
        assertThat(overtaken.value()).isEqualTo(100);
      }
      Waiter again = first.waiter(RT);
      queue(RT, 101);
      first.drive(again::isDone);
      assertThat(again.value()).isEqualTo(101);
    }
  }

  // r[verify sig.detach.close] r[verify sig.detach.drop]
  @EveryBackend
  void detachStopsWaitsDropsWhatIsPendingAndUnblocksNothing(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.open(backend)) {
      tested.settle();
      Descriptors before = Descriptors.now();
      SigSet blocked = mask();
      tested.attach(RT, Signo.USR1);
      Waiter waiting = tested.waiter(Signo.USR1);
      queue(RT, 1, 2);
      tested.drive(() -> tested.pending(RT) == 2);
      detach(tested);
      tested.drive(waiting::isDone);

      assertThat(waiting.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(before.openedSince()).isEmpty();
      assertThat(mask()).isEqualTo(blocked);
      assertThat(tested.loop.inFlight()).isZero();
      kill(Signo.USR1); // without a reader: this process goes on
      tested.settle();
      tested.attach(RT, Signo.USR1);
      assertThat(tested.pending(RT)).isZero();
      assertThat(tested.pending(Signo.USR1)).as("was in the kernel").isEqualTo(1);
      detach(tested);
      detach(tested); // does nothing
    }
  }

  @EveryBackend
  void aNotifiedWaiterKeepsItsSignalWhenTheServiceIsDetached(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      var notified = new ArrayList<Waiter>();
      tested.service.next(RT).start(_ -> tested.service.detach());
      notified.add(tested.waiter(RT));
      tested.settle();
      queue(RT, 1, 2);
      tested.drive(notified.getFirst()::isDone);
      assertThat(notified.getFirst().value()).isEqualTo(2);
    }
  }

  @EveryBackend
  void aReadThatFailsEndsTheWaitsWithItsError(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (SignalLoop tested = SignalLoop.attached(backend, tap, RT)) {
      Waiter waiter = tested.waiter(RT);
      tested.settle();
      tap.failAt("read", 1, Errno.EIO);
      queue(RT, 1);
      tested.drive(waiter::isDone);
      assertThat(waiter.outcome()).isEqualTo(Outcome.ERROR);
      assertThat(tested.service.isAttached()).isFalse();
    }
  }

  @EveryBackend
  void theLoopAndTheServiceMayEndInAnyOrder(Backend backend) throws Exception {
    Descriptors before = Descriptors.now();
    EventLoopGroup group = EventLoopGroup.open(1, LoopOptions.DEFAULT.withBackend(backend));
    var held = new AtomicReference<>(SigSet.EMPTY);
    try (SignalClaim _ = SignalClaim.take(SigSet.of(RT), held::set)) {
      group.start(SignalSet.of(RT));
      EventLoop loop = group.next();
      var service = new SignalService(loop);
      service.close(); // before attaching
      Coroutine<SignalInfo> waiting =
          loop.spawn(
              "waiter",
              () -> {
                service.attach(SignalSet.of(RT));
                return service.await(RT);
              });
      LoopSupport.await(service::isAttached);
      assertThat(held).hasValue(SigSet.EMPTY);
      group.close(); // with the service attached
      assertThat(waiting.result()).isCancelled();
      assertThat(service.isAttached()).isFalse();
      assertThat(held).hasValue(SigSet.of(RT));
      service.close(); // after the loop
    }
    assertThat(before.openedSince()).isEmpty();

    try (EventLoop loop = EventLoop.open(backend)) {
      var service = new SignalService(loop);
      var tested = new SignalLoop(loop, service);
      tested.attach(RT);
      service.close(); // from another thread, while no thread drives the loop
      assertThat(service.isAttached()).isTrue();
    }
    assertThat(before.openedSince()).isEmpty();
  }

  @EveryBackend
  void aStoppedLoopTakesNoService(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.open(backend)) {
      var failure = new CompletableFuture<Throwable>();
      tested.loop.spawn(
          "late",
          () -> {
            try {
              tested.loop.sleep(Duration.ofHours(1)); // until the loop ends
            } catch (StoppedException ends) {
              try {
                tested.service.attach(SignalSet.of(RT));
              } catch (IllegalStateException e) {
                failure.complete(e);
              }
            }
            return true;
          });
      tested.settle();
      tested.loop.requestStop();
      tested.loop.run();
      assertThat(failure.join()).hasMessage("cannot attach signals: the loop was stopped");
      assertThat(tested.service.isAttached()).isFalse();
    }
  }

  private static void detach(SignalLoop tested) throws Exception {
    tested.call(
        () -> {
          tested.service.detach();
          return true;
        });
  }
}
