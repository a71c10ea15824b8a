package dev.belfry.loop;

import static dev.belfry.loop.LoopSupport.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Timeout;

// Each test on a thread of its own: when the kernel tears down an io_uring, it interrupts the
// thread that used it, some time later.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class RunTest {

  // Regression: work queued before the call ran, and then the call waited for more.
  // r[verify loop.run.one]
  @EveryBackend
  void runOneBlocksUntilSomethingWasHandled(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    var blocked = new CountDownLatch(1);
    WaitLog.of(tap, blocked::countDown);
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      loop.scheduler().schedule().start(_ -> {});
      assertThat(loop.runOne()).isPositive();

      var count = new CompletableFuture<Integer>();
      Thread driver =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      count.complete(loop.runOne());
                    } catch (IOException e) {
                      count.completeExceptionally(e);
                    }
                  });
      LoopSupport.await(blocked);
      assertThat(count).isNotDone();
      loop.scheduler().execute(() -> {});
      assertThat(LoopSupport.get(count)).isPositive();
      LoopSupport.join(driver);
    }
  }

  // r[verify loop.run.one]
  @EveryBackend
  void runOneReturnsZeroOnlyWhenStoppedWithNothingLeft(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      ScheduleOperation task = loop.scheduler().schedule();
      task.start(_ -> {});
      loop.requestStop();
      assertThat(loop.runOne()).isPositive();
      assertThat(task.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(loop.runOne()).isZero();
      loop.run();
      assertThat(loop.runOne()).isZero();
    }
  }

  // r[verify loop.run.some]
  @EveryBackend
  void runSomeWaitsAtMostOnceAndNotAtAllWithoutADuration(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      var waitedAt = new AtomicLong();
      WaitLog log = WaitLog.of(tap, () -> waitedAt.set(System.nanoTime()));
      assertThat(loop.runSome()).isZero();
      assertThat(log.timeouts()).containsExactly(0L);

      log.clear();
      long began = System.nanoTime();
      assertThat(loop.runSome(Duration.ofMillis(3))).isZero();
      long took = System.nanoTime() - began;
      assertThat(took).isGreaterThanOrEqualTo(3_000_000);
      assertThat(log.timeouts()).hasSize(1);
      if (WaitLog.hasTimeOut(backend)) {
        // Nothing of it is left if the machine pauses this thread long enough before the wait.
        long waits = waitedAt.get() == 0 ? began + took : waitedAt.get();
        long left = Math.max(0, began + 3_000_000 - waits);
        assertThat(log.timeouts().getFirst()).isBetween(left, 3_000_000L);
      } else {
        assertThat(log.timerDeadlines()).hasSize(1);
        assertThat(log.timerDeadlines().getFirst()).isBetween(began + 3_000_000, began + took);
      }

      log.clear();
      loop.scheduler().execute(() -> {});
      assertThat(loop.runSome(Duration.ofSeconds(20))).isEqualTo(1);
      assertThat(log.timeouts()).hasSizeLessThanOrEqualTo(1);
    }
  }

  // r[verify loop.run.some]
  @EveryBackend
  void aTimerEndsTheWaitOfRunSome(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      TimerOperation timer = loop.scheduler().after(Duration.ofMillis(5));
      timer.start(_ -> {});
      assertThat(loop.runSome(PATIENCE)).isEqualTo(1);
      assertThat(timer.hasValue()).isTrue();
    }
  }

  // Regression: the difference between a time long past and the end of the longest wait overflows a
  // long. So the wait seemed to end first, and went on.
  // r[verify loop.run.some] r[verify loop.timer.api]
  @EveryBackend
  void aTimeLongPastEndsEvenTheLongestWait(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (long past : new long[] {Long.MIN_VALUE, -1}) {
        TimerOperation timer = loop.scheduler().at(past);
        timer.start(_ -> {});
        assertThat(loop.runSome(ChronoUnit.FOREVER.getDuration())).isEqualTo(1);
        assertThat(timer.hasValue()).isTrue();
      }
    }
  }

  // r[verify loop.run.until-empty]
  @EveryBackend
  void runUntilEmptyRunsAChainAndLeavesWhatWaits(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        Arena arena = Arena.ofConfined()) {
      var pipe = Descriptor.pipe(loop);
      pipe.reader().readSome(arena.allocate(8)).start(_ -> {});
      loop.scheduler().after(Duration.ofSeconds(10)).start(_ -> {});
      var left = new AtomicInteger(1000);
      chain(loop.scheduler(), left);
      long began = System.nanoTime();
      assertThat(loop.runUntilEmpty()).isEqualTo(1000);
      assertThat(left).hasValue(0);
      assertThat(System.nanoTime() - began).isLessThan(10_000_000_000L);
      assertThat(loop.inFlight()).isEqualTo(2);
      pipe.reader().close();
      pipe.writer().close();
    }
  }

  private static void chain(Scheduler scheduler, AtomicInteger left) {
    scheduler
        .schedule()
        .start(
            _ -> {
              if (left.decrementAndGet() > 0) {
                chain(scheduler, left);
              }
            });
  }

  // Regression: if work that had scheduled more work requested a stop, this method spun forever.
  // r[verify loop.run.until-empty] r[verify loop.stop.flag]
  @EveryBackend
  void runUntilEmptyEndsWhenItsWorkRequestsTheStop(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      ScheduleOperation second = loop.scheduler().schedule();
      loop.scheduler()
          .execute(
              () -> {
                second.start(_ -> {});
                loop.requestStop();
              });
      assertThat(loop.runUntilEmpty()).isEqualTo(2);
      assertThat(second.hasValue()).isTrue();
      assertThat(loop.runUntilEmpty()).isZero();
    }
  }

  // r[verify loop.run.stopped]
  @EveryBackend
  void runBlocksUntilTheStop(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      for (int i = 0; i < 100; i++) {
        LoopSupport.get(driven.scheduler().schedule().toFuture());
      }
      driven.asleep();
      assertThat(driven.outcome()).isNotDone();
      driven.loop().requestStop();
      assertThat(driven.joined()).isEqualTo(Outcome.VALUE);
    }
  }

  @EveryBackend
  void whatIsStartedAfterTheStopIsStoppedThoughTheLoopHasNotSeenIt(Backend backend)
      throws Exception {
    try (Driven driven = Driven.of(EventLoop.open(backend), RunMode.DRAINED, StopToken.NEVER)) {
      var busy = new CountDownLatch(1);
      var proceed = new CountDownLatch(1);
      driven
          .loop()
          .scheduler()
          .execute(
              () -> {
                busy.countDown();
                LoopSupport.await(() -> proceed.getCount() == 0);
              });
      busy.await();
      var before = driven.loop().scheduler().schedule().toFuture();
      driven.loop().requestStop();
      ScheduleOperation late = driven.loop().scheduler().schedule();
      var lateDone = late.toFuture();
      proceed.countDown();
      assertThat(before).succeedsWithin(PATIENCE);
      assertThat(lateDone).failsWithin(PATIENCE);
      assertThat(late.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(driven.joined()).isEqualTo(Outcome.VALUE);
    }
  }

  // r[verify loop.run.drained]
  @EveryBackend
  void aDrainedRunWaitsForEverythingInFlight(Backend backend) throws Exception {
    EventLoop loop = EventLoop.open(backend);
    try (Driven driven = Driven.of(loop, RunMode.DRAINED, StopToken.NEVER);
        Arena arena = Arena.ofShared()) {
      var pipe = Descriptor.pipe(loop);
      TransferOperation read = pipe.reader().readSome(arena.allocate(8));
      TimerOperation timer = loop.scheduler().after(Duration.ofMillis(50));
      var readDone = read.toFuture();
      var timerDone = timer.toFuture();
      LoopSupport.get(loop.scheduler().schedule().toFuture()); // both are in flight
      loop.requestStop();
      LoopSupport.get(timerDone);
      assertThat(timer.hasValue()).isTrue();
      // An idle poll does not end the run, and the loop accepts nothing new.
      ScheduleOperation late = loop.scheduler().schedule();
      assertThat(late.toFuture()).failsWithin(PATIENCE);
      assertThat(late.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(driven.outcome()).isNotDone();
      assertThat(readDone).isNotDone();
      dev.belfry.linux.Io.write(
          dev.belfry.linux.Sys.forAnyThread(),
          pipe.writer().descriptor(),
          arena.allocateFrom("data"));
      assertThat(driven.joined()).isEqualTo(Outcome.VALUE);
      assertThat(LoopSupport.get(readDone)).isEqualTo(5);
      assertThat(loop.inFlight()).isZero();
      pipe.reader().close();
      pipe.writer().close();
    }
  }

  // Regression: a posted task ended the last operation before the wait of a turn, and the loop then
  // waited forever.
  // r[verify loop.run.drained]
  @EveryBackend
  void aDrainedRunEndsWhenItsLastOperationIsCancelledBeforeTheWait(Backend backend)
      throws Exception {
    EventLoop loop = EventLoop.open(backend);
    try (Driven driven = Driven.of(loop, RunMode.DRAINED, StopToken.NEVER);
        Arena arena = Arena.ofShared()) {
      var pipe = Descriptor.pipe(loop);
      TimerOperation last = loop.scheduler().after(Duration.ofHours(1));
      last.start(_ -> {});
      pipe.reader()
          .readSome(arena.allocate(8))
          .start(
              _ -> {
                try {
                  LoopSupport.join(Thread.ofPlatform().start(last::cancel));
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      driven.asleep();
      loop.requestStop();
      LoopSupport.await(() -> !loop.takesWork() && loop.metrics().isAsleep());
      DescriptorSupport.send(pipe.writer(), "x");
      assertThat(driven.joined()).isEqualTo(Outcome.VALUE);
      assertThat(last.outcome()).isEqualTo(Outcome.STOPPED);
      pipe.reader().close();
      pipe.writer().close();
    }
  }

  // r[verify loop.run.sender]
  @EveryBackend
  void aRunEndsWithAValueByTheStopRequest(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      loop.scheduler().execute(loop::requestStop);
      assertThat(loop.run(RunMode.STOPPED, new StopSource().token())).isEqualTo(Outcome.VALUE);
    }
  }

  // r[verify loop.run.sender]
  @EveryBackend
  void aRunEndedByItsTokenIsNotFinal(Backend backend) throws Exception {
    EventLoop loop = EventLoop.open(backend);
    var source = new StopSource();
    Driven first = Driven.of(loop, RunMode.STOPPED, source.token()).asleep();
    TimerOperation timer = loop.scheduler().after(Duration.ofMillis(30));
    var fired = timer.toFuture();
    source.requestStop();
    assertThat(first.joined()).isEqualTo(Outcome.STOPPED);
    assertThat(loop.isStopRequested()).isFalse();
    try (Driven second = Driven.of(loop)) {
      LoopSupport.get(fired);
      assertThat(timer.hasValue()).isTrue();
      assertThat(second.outcome()).isNotDone();
    }
  }

  // r[verify loop.run.sender]
  @EveryBackend
  void aTokenThatFiredBeforeTheRunEndsItAtOnce(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var source = new StopSource();
      source.requestStop();
      assertThat(loop.run(RunMode.STOPPED, source.token())).isEqualTo(Outcome.STOPPED);
      assertThat(loop.run(RunMode.DRAINED, source.token())).isEqualTo(Outcome.STOPPED);
    }
  }

  // r[verify loop.run.exclusive]
  @EveryBackend
  void onlyOneThreadDrivesAndNotFromInside(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.asleep().loop();
      rejectsDriving(loop);
      var inside = new CompletableFuture<Void>();
      loop.scheduler()
          .execute(
              () -> {
                try {
                  rejectsDriving(loop);
                  assertThatIllegalStateException().isThrownBy(loop::close);
                  inside.complete(TimerOperation.nothing());
                } catch (AssertionError e) {
                  inside.completeExceptionally(e);
                }
              });
      LoopSupport.get(inside);
      LoopSupport.get(loop.scheduler().schedule().toFuture());
      assertThat(driven.outcome()).isNotDone();
    }
  }

  private static void rejectsDriving(EventLoop loop) {
    ThrowingCallable[] drives = {
      loop::run, loop::runOne, loop::runSome, loop::runUntilEmpty, () -> loop.runSome(PATIENCE)
    };
    for (ThrowingCallable drive : drives) {
      assertThatIllegalStateException().isThrownBy(drive);
    }
  }

  @EveryBackend
  void aVirtualThreadCannotDrive(Backend backend) throws Exception {
    try (EventLoop loop = EventLoop.open(backend)) {
      var outcome = new CompletableFuture<Integer>();
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  outcome.complete(loop.runSome());
                } catch (IOException | RuntimeException e) {
                  outcome.completeExceptionally(e);
                }
              });
      assertThat(outcome)
          .failsWithin(PATIENCE)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(IllegalStateException.class);
    }
  }

  // Regression: the closing thread waited for the end of a run that had never begun.
  @EveryBackend
  void closingWaitsForWhoeverDrivesButNotForARun(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    var inside = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    EventLoop loop = LoopSupport.open(backend, tap);
    loop.scheduler()
        .execute(
            () -> {
              inside.countDown();
              try {
                LoopSupport.await(goOn);
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    var handled = new CompletableFuture<Integer>();
    Thread driver =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    handled.complete(loop.runSome());
                  } catch (IOException e) {
                    handled.completeExceptionally(e);
                  }
                });
    LoopSupport.await(inside);
    Thread closer = Thread.ofPlatform().daemon().start(loop::close);
    LoopSupport.await(() -> closer.getState() == Thread.State.WAITING || loop.isStopRequested());
    goOn.countDown();
    LoopSupport.join(driver);
    LoopSupport.join(closer);
    assertThat(LoopSupport.get(handled)).isEqualTo(1);
    loop.close();
  }

  @EveryBackend
  void anExceptionFromWorkDoesNotEndTheLoop(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Scheduler scheduler = loop.scheduler();
      var after = new AtomicInteger();
      try (Quiet _ = Quiet.log(EventLoop.class)) {
        scheduler.execute(
            () -> {
              throw new IllegalStateException("a task");
            });
        scheduler
            .schedule()
            .start(
                _ -> {
                  throw new IllegalStateException("a completion");
                });
        scheduler
            .after(Duration.ZERO)
            .start(
                _ -> {
                  throw new AssertionError("a timer");
                });
        scheduler.execute(after::incrementAndGet);
        loop.runUntilEmpty();
      }
      assertThat(after).hasValue(1);
      assertThat(loop.inFlight()).isZero();
      scheduler.execute(after::incrementAndGet);
      loop.runOne();
      assertThat(after).hasValue(2);
    }
  }
}
