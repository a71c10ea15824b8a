package dev.belfry.loop;

import static dev.belfry.linux.Errno.EBADF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.linux.ErrnoException;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.SysTap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/** How coroutines end with their loop. */
final class CoroutineEndTest {
  // r[verify loop.stop.nonew]
  @EveryBackend
  void theStopOfTheLoopEndsItsCoroutines(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var ended = new ArrayList<String>();
      var coroutines = new ArrayList<Coroutine<Void>>();
      for (int i = 0; i < 20; i++) {
        String name = "sleeper " + i;
        boolean onTheLoop = i % 2 == 0;
        coroutines.add(
            loop.spawn(
                name,
                () -> {
                  try {
                    if (onTheLoop) {
                      loop.sleep(Duration.ofHours(1));
                    } else {
                      new CompletableFuture<Void>().get();
                    }
                  } catch (StoppedException | InterruptedException | ExecutionException e) {
                    try {
                      loop.sleep(Duration.ofHours(1)); // what is started now is stopped at once
                    } catch (StoppedException again) {
                      ended.add(name);
                    }
                  }
                }));
      }
      LoopSupport.await(
          () -> coroutines.stream().allMatch(c -> c.thread().getState() == Thread.State.WAITING));
      loop.requestStop();
      assertThat(driven.joined()).isEqualTo(Outcome.VALUE);
      assertThat(ended).hasSize(20);
      Coroutine<Void> late = loop.spawn("late", () -> {});
      assertThat(late.result()).isCancelled();
    }
  }

  // The loop could wait for a coroutine that had withdrawn because of the stop.
  // r[verify loop.stop.nonew]
  @EveryBackend
  void aSpawnThatRacesTheStopEndsAndDoesNotHoldUpTheLoop(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(500, 50_000);
    for (int i = 0; i < rounds; i++) {
      try (Driven driven = Driven.open(backend)) {
        EventLoop loop = driven.loop();
        int spins = i % 256;
        Thread stopper = Thread.ofPlatform().start(loop::requestStop);
        for (int spin = 0; spin < spins; spin++) {
          Thread.onSpinWait();
        }
        Coroutine<Void> coroutine = loop.spawn("racer", () -> loop.sleep(Duration.ofHours(1)));
        LoopSupport.await(coroutine.result()::isDone);
        LoopSupport.join(stopper);
        driven.joined();
      }
    }
  }

  @EveryBackend
  void closingALoopThatNobodyDrivesEndsItsCoroutines(Backend backend) throws Exception {
    var began = new AtomicBoolean();
    Coroutine<Void> sleeper;
    Coroutine<Void> unborn;
    try (EventLoop loop = EventLoop.open(backend)) {
      sleeper =
          loop.spawn(
              "sleeper",
              () -> {
                began.set(true);
                loop.sleep(Duration.ofHours(1));
              });
      LoopSupport.drive(loop, began::get);
      unborn = loop.spawn("unborn", () -> loop.sleep(Duration.ofHours(1)));
    }
    assertThat(sleeper.result()).isCompletedExceptionally();
    assertThat(unborn.result()).isCompletedExceptionally();
  }

  // What the last turn had put off to the next one was forgotten when that turn failed.
  // r[verify loop.err.unexpected]
  @EveryBackend
  @SuppressWarnings("ThreadPriorityCheck") // a yield goes to the next turn
  void closingALoopWhoseWaitFailsEndsItsCoroutines(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    Coroutine<String> sleeper;
    try (Quiet _ = Quiet.log(EventLoop.class);
        EventLoop loop = LoopSupport.open(backend, tap)) {
      sleeper =
          loop.spawn(
              "sleeper",
              () -> {
                try {
                  loop.sleep(Duration.ofHours(1));
                } catch (StoppedException e) {
                  Thread.yield();
                }
                return "cleaned up";
              });
      loop.runUntilEmpty();
      tap.fail(WaitLog.call(backend), EBADF);
      assertThatExceptionOfType(ErrnoException.class).isThrownBy(loop::run);
    }
    assertThat(sleeper.result()).isCompletedWithValue("cleaned up");
  }
}
