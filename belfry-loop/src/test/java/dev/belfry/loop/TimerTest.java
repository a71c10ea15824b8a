package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

final class TimerTest {

  // r[verify loop.timer.heap]
  @EveryBackend
  void timersWithEqualDeadlinesFireInTheOrderOfTheirStart(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var order = new ArrayList<Integer>();
      long deadline = loop.scheduler().now() + 5_000_000;
      for (int i = 0; i < 200; i++) {
        int number = i;
        loop.scheduler().at(deadline).start(_ -> order.add(number));
      }
      LoopSupport.drive(loop, () -> order.size() == 200);
      assertThat(order).isSorted();
    }
  }

  // r[verify loop.timer.expire]
  @EveryBackend
  void timersForNowDoNotKeepADescriptorFromBeingServed(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        Arena arena = Arena.ofConfined()) {
      var pair = StreamSocket.pair(loop, loop);
      var left = new AtomicInteger(1000);
      var leftAtRead = new AtomicInteger(-1);
      pair.first().readSome(arena.allocate(8)).start(_ -> leftAtRead.set(left.get()));
      loop.runSome();
      TimerOperation timer = loop.scheduler().after(Duration.ZERO);
      Completion<Void> again =
          new Completion<>() {
            @Override
            public void completed(Operation<? extends Void> operation) {
              if (left.decrementAndGet() > 0) {
                timer.start(this);
              }
            }
          };
      timer.start(again);
      loop.runSome();
      pair.second().writeSome(arena.allocateFrom("x")).start(_ -> {});
      LoopSupport.drive(loop, () -> left.get() == 0);
      assertThat(leftAtRead.get()).isBetween(900, 1000);
      pair.first().close();
      pair.second().close();
      loop.runUntilEmpty();
    }
  }

  // Regression: the fallback did not set its timer again for a deadline that it had used before.
  // r[verify loop.timer.expire] r[verify loop.wait.assume]
  @EveryBackend
  void aTimerStartedAgainForADeadlineThatHasPassedFires(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var done = new CountDownLatch(5);
      TimerOperation timer = driven.scheduler().at(System.nanoTime() + 2_000_000);
      Completion<Void> again =
          new Completion<>() {
            @Override
            public void completed(Operation<? extends Void> operation) {
              done.countDown();
              if (done.getCount() > 0) {
                timer.start(this);
              }
            }
          };
      timer.start(again);
      LoopSupport.await(done);
    }
  }

  // r[verify loop.timer.api]
  @EveryBackend
  void everyWayToSetATimerFiresOnceAndNotEarly(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Scheduler scheduler = loop.scheduler();
      long now = scheduler.now();
      assertThat(now - System.nanoTime()).isNotPositive();
      TimerOperation[] timers = {
        scheduler.at(now + 3_000_000),
        scheduler.at(now - 3_000_000),
        scheduler.at(Long.MIN_VALUE),
        scheduler.after(Duration.ofMillis(2)),
        scheduler.after(Duration.ZERO),
        scheduler.after(Duration.ofNanos(1)),
        scheduler.after(Duration.ofNanos(-5)),
        scheduler.after(Duration.ofSeconds(Long.MIN_VALUE)),
      };
      var fired = new AtomicInteger();
      for (TimerOperation timer : timers) {
        timer.start(
            op -> {
              assertThat(op.hasValue()).isTrue();
              assertThat(System.nanoTime() - timer.deadline()).isNotNegative();
              fired.incrementAndGet();
            });
      }
      var never = new AtomicInteger();
      TimerOperation[] far = {
        scheduler.after(Duration.ofNanos(Long.MAX_VALUE)),
        scheduler.after(Duration.ofSeconds(Long.MAX_VALUE)),
        scheduler.at(Long.MAX_VALUE),
      };
      for (TimerOperation timer : far) {
        timer.start(_ -> never.incrementAndGet());
      }
      LoopSupport.drive(loop, () -> fired.get() == timers.length);
      loop.runSome(Duration.ofMillis(2));
      assertThat(fired).hasValue(timers.length);
      assertThat(never).hasValue(0);
      assertThat(loop.inFlight()).isEqualTo(far.length);
    }
  }

  // r[verify loop.timer.delay]
  @EveryBackend
  void aDelayStartedOnTheLoopCountsFromWithinTheTurn(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      long delay = 2_000_000;
      TimerOperation timer = loop.scheduler().after(Duration.ofNanos(delay));
      var started = new AtomicLong();
      loop.scheduler()
          .execute(
              () -> {
                started.set(System.nanoTime());
                timer.start(_ -> {});
                timer.after(Duration.ofHours(1)); // applies to the next start
              });
      assertThat(loop.runSome()).isEqualTo(1);
      assertThat(timer.deadline() - delay).isBetween(started.get(), System.nanoTime());
      LoopSupport.drive(loop, () -> loop.inFlight() == 0);
      assertThat(System.nanoTime() - timer.deadline()).isNotNegative();
    }
  }

  // r[verify loop.timer.never-early] r[verify loop.timer.delay]
  @EveryBackend
  void noTimerStartedOnTheLoopFiresEarly(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var random = new Random(43);
      var early = new AtomicInteger();
      var fired = new AtomicInteger();
      Runnable startThree =
          () -> {
            for (int i = 0; i < 3; i++) {
              long delay = random.nextLong(3_000_000);
              TimerOperation timer = loop.scheduler().after(Duration.ofNanos(delay));
              long due = System.nanoTime() + delay;
              timer.start(
                  _ -> {
                    fired.incrementAndGet();
                    if (System.nanoTime() - due < 0) {
                      early.incrementAndGet();
                    }
                  });
            }
          };
      for (int turn = 0; turn < 2000; turn++) {
        loop.scheduler().execute(startThree);
        loop.runSome();
      }
      LoopSupport.drive(loop, () -> fired.get() == 6000);
      assertThat(early).hasValue(0);
    }
  }

  // r[verify loop.timer.never-early]
  @EveryBackend
  void noTimerOfTenThousandFiresEarly(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var random = new Random(42);
      var early = new AtomicInteger();
      var fired = new AtomicInteger();
      for (int i = 0; i < 10_000; i++) {
        TimerOperation timer =
            loop.scheduler().after(Duration.ofNanos(random.nextLong(200_000_000)));
        timer.start(
            _ -> {
              fired.incrementAndGet();
              if (System.nanoTime() - timer.deadline() < 0) {
                early.incrementAndGet();
              }
            });
      }
      LoopSupport.drive(loop, () -> fired.get() == 10_000);
      assertThat(early).hasValue(0);
      assertThat(loop.metrics().timerLag().count()).isEqualTo(10_000);
    }
  }

  // r[verify loop.timer.cancel-lazy]
  @EveryBackend
  void aCancelledTimerCompletesAtOnceAndTheOtherOnTime(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var log = new ArrayList<String>();
      TimerOperation first = loop.scheduler().after(Duration.ofMillis(500));
      TimerOperation second = loop.scheduler().after(Duration.ofMillis(520));
      first.start(op -> log.add("first " + op.outcome()));
      second.start(op -> log.add("second " + op.outcome()));
      loop.runSome();
      first.cancel();
      loop.runSome();
      assertThat(log).containsExactly("first STOPPED");
      assertThat(loop.timers.pending()).isEqualTo(1);
      LoopSupport.drive(loop, () -> log.size() == 2);
      assertThat(log).containsExactly("first STOPPED", "second VALUE");
      assertThat(System.nanoTime() - second.deadline()).isNotNegative();
    }
  }

  // r[verify loop.timer.cancel-lazy]
  @EveryBackend
  void aMillionCancelledTimersLeaveTheHeapSmall(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var stopped = new AtomicInteger();
      var largest = new AtomicInteger();
      TimerOperation timer = loop.scheduler().after(Duration.ofHours(1));
      loop.scheduler().after(Duration.ofHours(2)).start(_ -> {});
      Completion<Void> count = _ -> stopped.incrementAndGet();
      Runnable batch =
          () -> {
            timer.start(count);
            timer.cancel();
          };
      for (int i = 0; i < 1_000; i++) {
        loop.scheduler()
            .execute(
                () -> {
                  for (int j = 0; j < 999; j++) {
                    TimerOperation one = loop.scheduler().after(Duration.ofHours(1));
                    one.start(count);
                    one.cancel();
                  }
                  batch.run();
                  largest.accumulateAndGet(loop.timers.entries(), Math::max);
                });
        loop.runUntilEmpty();
      }
      assertThat(stopped).hasValue(1_000_000);
      assertThat(largest.get()).isLessThanOrEqualTo(64);
      assertThat(loop.timers.pending()).isEqualTo(1);
    }
  }

  // r[verify loop.timer.rearm-wake]
  @EveryBackend
  void anEarlierTimerFromAnotherThreadIsNotLate(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      driven.scheduler().after(Duration.ofSeconds(20)).start(_ -> {});
      LoopSupport.get(driven.scheduler().schedule().toFuture());
      driven.asleep();
      long began = System.nanoTime();
      var future = driven.scheduler().after(Duration.ofMillis(20)).toFuture();
      LoopSupport.get(future);
      assertThat(System.nanoTime() - began).isBetween(20_000_000L, 10_000_000_000L);
    }
  }

  // r[verify loop.timer.no-wake-later]
  @EveryBackend
  void laterTimersFromAnotherThreadDoNotWakeTheLoop(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (Driven driven = Driven.of(LoopSupport.open(backend, tap))) {
      Scheduler scheduler = driven.scheduler();
      long base = System.nanoTime() + 400_000_000;
      scheduler.at(base).start(_ -> {});
      LoopSupport.get(scheduler.schedule().toFuture());
      awaitSleep(driven);
      long writes = tap.calls("write");
      var fired = new CountDownLatch(100);
      var early = new AtomicLong();
      for (int i = 0; i < 100; i++) {
        TimerOperation timer = scheduler.at(base + 50_000_000 + i);
        timer.start(
            _ -> {
              if (System.nanoTime() - timer.deadline() < 0) {
                early.incrementAndGet();
              }
              fired.countDown();
            });
      }
      long written = tap.calls("write") - writes;
      boolean inTime = System.nanoTime() - base < 0;
      LoopSupport.await(fired);
      assertThat(early).hasValue(0);
      if (inTime) { // else this thread was delayed until the loop woke by itself
        assertThat(written).isZero();
      }
    }
  }

  // Regression: a loop that slept until an earlier timer was not woken for a later one, so the
  // later one's token was not watched until then.
  // r[verify loop.cancel.stopped] r[verify loop.timer.no-wake-later]
  @EveryBackend
  void aTokenStopsALaterTimerFromAnotherThreadAtOnce(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      driven.scheduler().after(Duration.ofHours(1)).start(_ -> {});
      driven.asleep();
      var source = new StopSource();
      TimerOperation later = driven.scheduler().after(Duration.ofHours(2));
      var stopped = later.toFuture(source.token());
      source.requestStop();
      LoopSupport.await(stopped::isDone);
      assertThat(later.outcome()).isEqualTo(Outcome.STOPPED);
      driven.asleep();
      LoopSupport.await(later.toFuture(source.token())::isDone);
      assertThat(later.outcome()).isEqualTo(Outcome.STOPPED);
    }
  }

  private static void awaitSleep(Driven driven) {
    LoopSupport.await(() -> driven.loop().metrics().isAsleep());
  }
}
