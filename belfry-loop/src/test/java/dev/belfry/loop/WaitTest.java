package dev.belfry.loop;

import static dev.belfry.linux.Errno.EINTR;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;

// Each test on a thread of its own: when the kernel tears down an io_uring, it interrupts the
// thread that used it, some time later.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class WaitTest {
  private static final long YEAR_NANOS = TimeUnit.DAYS.toNanos(365);
  private static final List<String> BLOCKING =
      List.of("poll", "ppoll", "futex", "futexWaitv", "waitid", "flock", "pthreadMutexLock");

  // r[verify loop.wait.pwait2]
  @EveryBackend
  void anEchoSessionBlocksInNothingButTheWait(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap);
        Arena arena = Arena.ofConfined()) {
      var pair = StreamSocket.pair(loop, loop);
      MemorySegment here = arena.allocate(16);
      MemorySegment there = arena.allocate(16);
      var rounds = new AtomicInteger();
      TransferOperation ask = pair.first().writeAll(here);
      TransferOperation hear = pair.second().readAll(there);
      TransferOperation answer = pair.second().writeAll(there);
      TransferOperation read = pair.first().readAll(here);
      hear.start(_ -> answer.start(_ -> {}));
      ask.start(_ -> {});
      read.start(
          op -> {
            assertThat(op.hasValue()).isTrue();
            rounds.incrementAndGet();
          });
      LoopSupport.drive(loop, () -> rounds.get() == 1);
      for (String call : BLOCKING) {
        assertThat(tap.calls(call)).as(call).isZero();
      }
      for (String other : WaitLog.otherCalls(backend)) {
        assertThat(tap.calls(other)).as(other).isZero();
      }
      assertThat(tap.calls(WaitLog.call(backend))).isPositive();
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.wait.relative]
  @EveryBackend
  void theTimeOutReachesExactlyToTheDeadline(Backend backend) throws IOException {
    long[] delays = {
      1_000, 1_001, 999_999, 1_000_000, 1_000_000_007, YEAR_NANOS - 1, YEAR_NANOS, 20 * YEAR_NANOS
    };
    for (long delay : delays) {
      checkTimeOut(backend, Duration.ofNanos(delay));
    }
    checkTimeOut(backend, Duration.ofDays(100 * 365));
  }

  private static void checkTimeOut(Backend backend, Duration delay) throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      var inside = new AtomicLong();
      WaitLog log =
          WaitLog.of(
              tap,
              () -> {
                inside.set(System.nanoTime());
                loop.scheduler().execute(() -> {}); // ends runOne after the wait
                loop.requestStop();
                tap.pass(WaitLog.call(backend));
              });
      TimerOperation timer = loop.scheduler().after(delay);
      timer.start(_ -> {});
      long before = System.nanoTime();
      loop.runOne();
      if (inside.get() == 0) {
        assertThat(delay).isLessThan(Duration.ofMillis(2)); // passed before the wait
        return;
      }
      long deadline = timer.deadline();
      if (WaitLog.hasTimeOut(backend)) {
        long timeout = log.timeouts().getLast();
        if (deadline - before >= YEAR_NANOS) {
          assertThat(timeout).isBetween(Math.min(YEAR_NANOS, deadline - inside.get()), YEAR_NANOS);
        } else {
          assertThat(timeout)
              .isBetween(Math.max(0, deadline - inside.get()), Math.max(0, deadline - before));
        }
      } else {
        assertThat(log.timerDeadlines().getLast()).isEqualTo(deadline);
        assertThat(log.timeouts().getLast()).isEqualTo(WaitLog.FOREVER);
      }
    }
  }

  // r[verify loop.wait.infinite]
  @EveryBackend
  void anIdleLoopWaitsWithoutATimeOut(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      WaitLog log = WaitLog.of(tap, () -> loop.scheduler().execute(() -> {}));
      var source = new StopSource();
      loop.runSome(); // submits the loop's own request, if there is one
      tapWake(tap, backend, log, loop);
      loop.runOne();
      assertThat(log.timeouts().getLast()).isEqualTo(WaitLog.FOREVER);

      TimerOperation timer = loop.scheduler().after(Duration.ofSeconds(50));
      timer.start(_ -> {}, source.token());
      source.requestStop();
      loop.runOne();
      assertThat(timer.outcome()).isEqualTo(Outcome.STOPPED);
      log.clear();
      loop.runOne();
      assertThat(log.timeouts().getLast()).isEqualTo(WaitLog.FOREVER);
      assertThat(log.timerDeadlines()).isEmpty();
    }
  }

  /** Answers waits that would block, because the work that ends them is queued meanwhile. */
  private static void tapWake(SysTap tap, Backend backend, WaitLog log, EventLoop loop) {
    tap.script(
        WaitLog.call(backend),
        (_, arguments) -> {
          boolean blocks = WaitLog.blocks(backend, arguments);
          log.timeouts().add(blocks ? WaitLog.FOREVER : 0L);
          if (blocks) {
            loop.scheduler().execute(() -> {});
            return OptionalLong.of(0);
          }
          return OptionalLong.empty();
        });
  }

  // r[verify loop.wait.ns]
  @EveryBackend
  void aDelayBelowAMillisecondIsKept(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      WaitLog log = WaitLog.of(tap);
      TimerOperation timer = loop.scheduler().after(Duration.ofNanos(300_000));
      long best = Long.MAX_VALUE;
      for (int i = 0; i < 100; i++) {
        var done = new AtomicBoolean();
        long began = System.nanoTime();
        timer.start(_ -> done.set(true));
        LoopSupport.drive(loop, done::get);
        best = Math.min(best, System.nanoTime() - began);
      }
      assertThat(best).isBetween(300_000L, 1_000_000L);
      if (WaitLog.hasTimeOut(backend)) {
        assertThat(log.timeouts().stream().filter(nanos -> nanos > 0))
            .isNotEmpty()
            .allMatch(nanos -> nanos < 300_000 || nanos > 1_000_000); // the latter for drive()
        assertThat(log.timeouts()).anyMatch(nanos -> nanos > 0 && nanos < 300_000);
      }
    }
  }

  // r[verify loop.wait.flush-first]
  @EveryBackend
  void queuedWorkRunsBeforeTheLoopBlocks(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      WaitLog log = WaitLog.of(tap);
      var ran = new ArrayList<Integer>();
      var rest = new AtomicInteger(20);
      repeat(loop.scheduler(), rest);
      loop.scheduler().execute(() -> ran.add(log.timeouts().size()));
      assertThat(loop.runOne()).isPositive();
      assertThat(ran).containsExactly(0); // it ran before any wait
      while (rest.get() > 0) {
        loop.runOne();
      }
      // Only the turn after the last task might block, and it has not begun.
      assertThat(log.timeouts().subList(0, log.timeouts().size() - 1)).containsOnly(0L);
    }
  }

  private static void repeat(Scheduler scheduler, AtomicInteger rest) {
    scheduler.execute(
        () -> {
          if (rest.decrementAndGet() > 0) {
            repeat(scheduler, rest);
          } else {
            scheduler.loop().requestStop();
          }
        });
  }

  // r[verify loop.wait.drain-both]
  @EveryBackend
  void workPostedByAnEventRunsBeforeTheNextWait(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap);
        Arena arena = Arena.ofConfined()) {
      var pair = StreamSocket.pair(loop, loop);
      var waits = new ArrayList<Long>();
      String call = WaitLog.call(backend);
      TransferOperation read = pair.first().readSome(arena.allocate(8));
      read.start(
          _ -> {
            waits.add(tap.calls(call));
            loop.scheduler().execute(() -> waits.add(tap.calls(call)));
            loop.scheduler().schedule().start(_ -> waits.add(tap.calls(call)));
          });
      loop.runSome();
      pair.second().writeSome(arena.allocateFrom("x")).start(_ -> {});
      LoopSupport.drive(loop, () -> waits.size() == 3);
      assertThat(waits.get(1)).isEqualTo(waits.get(0));
      assertThat(waits.get(2)).isEqualTo(waits.get(0));
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.wait.drain-both]
  @EveryBackend
  void workThatPostsItselfForEverLetsOthersIn(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        Arena arena = Arena.ofConfined()) {
      Scheduler scheduler = loop.scheduler();
      var over = new AtomicBoolean();
      for (int i = 0; i < 3; i++) {
        forEver(scheduler, over);
        forEverByOperation(scheduler, scheduler.schedule(), over);
      }
      var pair = StreamSocket.pair(loop, loop);
      TransferOperation read = pair.first().readSome(arena.allocate(8));
      var read1 = new AtomicBoolean();
      var fired = new AtomicBoolean();
      read.start(_ -> read1.set(true));
      scheduler.after(Duration.ofMillis(3)).start(_ -> fired.set(true));
      LoopSupport.drive(loop, fired::get);
      assertThat(read1).isFalse();
      pair.second().writeSome(arena.allocateFrom("x")).start(_ -> {});
      LoopSupport.drive(loop, read1::get);
      over.set(true);
      pair.first().close();
      pair.second().close();
      loop.runUntilEmpty();
    }
  }

  private static void forEver(Scheduler scheduler, AtomicBoolean over) {
    scheduler.execute(
        () -> {
          if (!over.get()) {
            forEver(scheduler, over);
          }
        });
  }

  private static void forEverByOperation(
      Scheduler scheduler, ScheduleOperation again, AtomicBoolean over) {
    again.start(
        _ -> {
          if (!over.get()) {
            forEverByOperation(scheduler, again, over);
          }
        });
  }

  // r[verify loop.wait.eintr]
  @EveryBackend
  void interruptedWaitsDoNotDelayATimer(Backend backend) throws IOException {
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 5 && best > 150_000_000; i++) { // a busy machine may be late
      best = Math.min(best, fireAfterInterruptedWaits(backend));
    }
    assertThat(best).isBetween(100_000_000L, 185_000_000L);
  }

  private static long fireAfterInterruptedWaits(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      tap.script(
          WaitLog.call(backend),
          (nth, _) -> {
            if (nth > 3) {
              return OptionalLong.empty();
            }
            long until = System.nanoTime() + 30_000_000; // as if it had slept so long
            while (System.nanoTime() - until < 0) {
              LockSupport.parkNanos(until - System.nanoTime());
            }
            return OptionalLong.of(-EINTR);
          });
      long began = System.nanoTime();
      TimerOperation timer = loop.scheduler().after(Duration.ofMillis(100));
      timer.start(_ -> loop.requestStop());
      loop.run();
      long took = System.nanoTime() - began;
      assertThat(timer.hasValue()).isTrue();
      assertThat(took).isGreaterThanOrEqualTo(100_000_000L);
      assertThat(tap.calls(WaitLog.call(backend))).isGreaterThan(3);
      return took;
    }
  }

  // Regression: a call that waits once returned with nothing when its wait was interrupted, as
  // happens when the kernel tears down an io_uring that the thread has used.
  // r[verify loop.wait.eintr]
  @EveryBackend
  void anInterruptedWaitOfRunSomeGoesOn(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      loop.runSome();
      tap.failFirst(WaitLog.call(backend), 2, EINTR);
      TimerOperation timer = loop.scheduler().after(Duration.ofMillis(5));
      timer.start(_ -> {});
      assertThat(loop.runSome(LoopSupport.PATIENCE)).isEqualTo(1);
      assertThat(timer.hasValue()).isTrue();
    }
  }

  @EveryBackend
  void aBusyPollingLoopPollsAgainAndAgain(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    var options =
        LoopOptions.DEFAULT
            .withBackend(backend)
            .withSystemCalls(tap.sys())
            .withBusyPoll(Duration.ofHours(1));
    try (EventLoop loop = EventLoop.open(options)) {
      WaitLog log = WaitLog.of(tap);
      Thread.ofPlatform()
          .start(
              () -> {
                LoopSupport.await(() -> log.timeouts().size() > 2);
                loop.scheduler().execute(() -> {});
              });
      assertThat(loop.runSome(LoopSupport.PATIENCE)).isEqualTo(1);
      assertThat(log.timeouts()).containsOnly(0L);
    }
  }

  @EveryBackend
  void aBusyPollingLoopPollsBeforeItSleeps(Backend backend) throws IOException {
    SysTap tap = LoopSupport.tap();
    var options =
        LoopOptions.DEFAULT
            .withBackend(backend)
            .withSystemCalls(tap.sys())
            .withBusyPoll(Duration.ofMillis(20));
    try (EventLoop loop = EventLoop.open(options)) {
      Runnable wake = () -> loop.scheduler().execute(() -> {});
      WaitLog log = WaitLog.of(tap, () -> Thread.ofPlatform().start(wake));
      assertThat(loop.runSome(LoopSupport.PATIENCE)).isEqualTo(1);
      assertThat(log.timeouts().size()).isGreaterThan(1);
      assertThat(log.timeouts().subList(0, log.timeouts().size() - 1)).containsOnly(0L);
      assertThat(log.timeouts().getLast()).isNotZero();
      TimerOperation timer = loop.scheduler().after(Duration.ofNanos(100_000));
      var late = new AtomicLong(-1);
      timer.start(_ -> late.set(System.nanoTime() - timer.deadline()));
      LoopSupport.drive(loop, () -> late.get() != -1);
      assertThat(late.get()).isNotNegative();
    }
  }

  // Regression: a polling loop did not check for the stop before it slept.
  // r[verify loop.stop.flag]
  @EveryBackend
  void aBusyPollingLoopSeesPostedWorkAndTheStop(Backend backend) throws Exception {
    var options = LoopOptions.DEFAULT.withBackend(backend).withBusyPoll(Duration.ofHours(1));
    try (var driven = LoopSupport.Driven.of(EventLoop.open(options))) {
      for (int i = 0; i < 100; i++) {
        LoopSupport.get(driven.scheduler().schedule().toFuture());
      }
      assertThat(driven.loop().metrics().wakeUpsSent()).isZero();
      driven.loop().requestStop();
      assertThat(driven.joined()).isEqualTo(Outcome.VALUE);
    }
  }
}
