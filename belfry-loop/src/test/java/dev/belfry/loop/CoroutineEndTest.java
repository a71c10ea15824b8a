package dev.belfry.loop;

import static dev.belfry.linux.Errno.EBADF;
import static java.util.concurrent.TimeUnit.HOURS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.belfry.linux.ErrnoException;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

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
                      loop.sleep(Duration.ofHours(1)); // operations started now are stopped
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
    }
  }

  private static int read(StreamSocket socket) throws IOException {
    try (socket) {
      return socket.readSome(Arena.ofAuto().allocate(10)).await();
    }
  }

  // Regression: the body did not run, and the resources it was to close stayed open.
  // r[verify loop.stop.coroutine]
  @EveryBackend
  void aCoroutineThatIsSpawnedAfterTheStopClosesWhatItWasGiven(Backend backend) throws Exception {
    Descriptors before = Descriptors.now();
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      Coroutine<Coroutine<Integer>> spawning =
          loop.spawn(
              "spawning",
              () -> {
                try {
                  loop.sleep(Duration.ofHours(1));
                } catch (StoppedException e) {
                  // As with an accept whose connection came in the last turn.
                }
                return loop.spawn("in the last turn", () -> read(pair.first()));
              });
      driven.asleep();
      loop.requestStop();
      driven.joined();
      assertThat(LoopSupport.get(spawning.result()).result()).isCancelled();
      Coroutine<Integer> late = loop.spawn("after the end", () -> read(pair.second()));
      LoopSupport.await(late.result()::isDone);
      assertThat(late.result()).isCancelled();
    }
    assertThat(before.openedSince()).isEmpty();
  }

  // r[verify loop.stop.coroutine]
  @EveryBackend
  void aCoroutineThatIsSpawnedAfterTheEndIsInterrupted(Backend backend) throws Exception {
    EventLoop loop = EventLoop.open(backend);
    loop.close();
    Coroutine<Boolean> late = loop.spawn("late", () -> new CountDownLatch(1).await(1, HOURS));
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> LoopSupport.get(late.result()))
        .withCauseInstanceOf(InterruptedException.class);
  }

  // r[verify loop.stop.coroutine]
  @EveryBackend
  @SuppressWarnings("ThreadPriorityCheck") // so that each has several parts
  void coroutinesThatAreSpawnedAfterTheEndDoNotRunAtTheSameTime(Backend backend) throws Exception {
    EventLoop loop = EventLoop.open(backend);
    loop.close();
    int usual = ForkJoinPool.commonPool().setParallelism(4); // it is one on two processors
    var running = new AtomicInteger();
    var coroutines = new ArrayList<Coroutine<Integer>>();
    for (int i = 0; i < 50; i++) {
      coroutines.add(
          loop.spawn(
              "late " + i,
              () -> {
                int most = 0;
                for (int part = 0; part < 10; part++) {
                  most = Math.max(most, running.incrementAndGet());
                  for (int spin = 0; spin < 1000; spin++) {
                    Thread.onSpinWait();
                  }
                  running.decrementAndGet();
                  Thread.yield();
                }
                return most;
              }));
    }
    try {
      for (Coroutine<Integer> coroutine : coroutines) {
        assertThat(LoopSupport.get(coroutine.result())).isEqualTo(1);
      }
    } finally {
      ForkJoinPool.commonPool().setParallelism(usual);
    }
  }

  // Regression: the loop could wait for a coroutine that had given up because of the stop.
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

  // r[verify loop.stop.coroutine]
  @EveryBackend
  void aCoroutineThatAlwaysSpawnsAnotherDoesNotKeepTheLoop(Backend backend) {
    var refusal = new CompletableFuture<Void>();
    assertTimeoutPreemptively(
        LoopSupport.PATIENCE,
        () -> {
          try (EventLoop loop = EventLoop.open(backend)) {
            loop.spawn("first", () -> spawnAnother(loop, refusal));
            loop.requestStop();
            loop.run();
          }
        });
    assertThat(refusal)
        .failsWithin(LoopSupport.PATIENCE)
        .withThrowableThat()
        .withMessageContaining("again and again: coroutine next");
  }

  private static void spawnAnother(EventLoop loop, CompletableFuture<Void> refusal) {
    try {
      loop.spawn("next", () -> spawnAnother(loop, refusal));
    } catch (IllegalStateException e) {
      refusal.completeExceptionally(e);
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

  // Regression: work that the last turn had postponed was forgotten when that turn failed.
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
