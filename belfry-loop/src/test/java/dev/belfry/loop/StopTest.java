package dev.belfry.loop;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.linux.OpenFlags;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

final class StopTest {

  // r[verify loop.stop.flag]
  @EveryBackend
  void anotherThreadStopsTheLoop(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend).asleep()) {
      driven.loop().requestStop();
      driven.loop().requestStop();
      assertThat(driven.joined()).isEqualTo(Outcome.VALUE);
      driven.loop().requestStop();
    }
  }

  // r[verify loop.stop.flag]
  @EveryBackend
  void aCompletionStopsTheLoop(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      loop.scheduler()
          .after(Duration.ofMillis(1))
          .start(
              _ -> {
                loop.requestStop();
                loop.requestStop();
              });
      loop.run();
      assertThat(loop.isStopRequested()).isTrue();
    }
  }

  // Regression: a loop draining a long timer was not woken for a timer started later and due later.
  // r[verify loop.stop.nonew]
  @EveryBackend
  void aTimerStartedWhileTheLoopDrainsALongOneIsStoppedAtOnce(Backend backend) throws Exception {
    EventLoop loop = EventLoop.open(backend);
    TimerOperation drained = loop.scheduler().after(Duration.ofHours(1));
    drained.start(_ -> {});
    try (Driven driven = Driven.of(loop, RunMode.DRAINED, StopToken.NEVER).asleep()) {
      loop.requestStop();
      LoopSupport.await(() -> !loop.takesWork() && loop.metrics().isAsleep());
      TimerOperation late = loop.scheduler().after(Duration.ofHours(2));
      try {
        LoopSupport.await(late.toFuture()::isDone);
      } finally {
        drained.cancel();
      }
      assertThat(late.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(driven.joined()).isEqualTo(Outcome.VALUE);
    }
  }

  // r[verify loop.stop.flag]
  @EveryBackend
  void aStopBeforeTheRunEndsItAsTheModeDemands(Backend backend) throws IOException {
    for (RunMode mode : RunMode.values()) {
      try (EventLoop loop = EventLoop.open(backend)) {
        TimerOperation timer = loop.scheduler().after(Duration.ofMillis(20));
        timer.start(_ -> {});
        loop.runSome();
        loop.requestStop();
        loop.run(mode);
        assertThat(timer.outcome())
            .isEqualTo(mode == RunMode.DRAINED ? Outcome.VALUE : Outcome.STOPPED);
      }
    }
  }

  // r[verify loop.stop.nonew]
  @EveryBackend
  void whatIsStartedAfterTheStopCompletesAsStopped(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        Arena arena = Arena.ofConfined()) {
      var pipe = Descriptor.pipe(loop);
      loop.runSome();
      loop.requestStop();
      var outcomes = new ArrayList<Outcome>();
      List<Operation<?>> operations =
          List.of(
              loop.scheduler().schedule(),
              loop.scheduler().after(Duration.ZERO),
              loop.scheduler().after(Duration.ofHours(1)),
              pipe.reader().readSome(arena.allocate(4)));
      operations.forEach(operation -> operation.start(op -> outcomes.add(op.outcome())));
      loop.run();
      assertThat(outcomes).hasSize(4).containsOnly(Outcome.STOPPED);

      operations.forEach(operation -> operation.start(op -> outcomes.add(op.outcome())));
      assertThat(outcomes).hasSize(8).containsOnly(Outcome.STOPPED);
      assertThat(operations.get(0).toFuture()).isCancelled();
      assertThatExceptionOfType(StoppedException.class).isThrownBy(operations.get(1)::await);
      assertThatExceptionOfType(RejectedExecutionException.class)
          .isThrownBy(() -> loop.scheduler().execute(() -> {}));
      assertThatIllegalStateException().isThrownBy(loop::run);
      assertThat(loop.runSome()).isZero();
      assertThat(loop.runUntilEmpty()).isZero();
      pipe.reader().close();
      pipe.writer().close();
    }
  }

  // Regression: once stopped, a loop driven by runSome did nothing at all, and did not wait either.
  // r[verify loop.stop.nonew]
  @EveryBackend
  void aLoopThatIsDrivenByRunSomeRefusesWorkAfterTheStopToo(Backend backend) throws Exception {
    try (EventLoop loop = EventLoop.open(backend);
        Arena arena = Arena.ofShared()) {
      var pipe = Descriptor.pipe(loop);
      var read = pipe.reader().readSome(arena.allocate(4)).toFuture();
      loop.requestStop();
      var task = loop.scheduler().schedule().toFuture();
      assertThat(loop.runSome()).isEqualTo(2);
      assertThat(read).isCancelled();
      assertThat(task).isCancelled();
      var late = loop.scheduler().after(Duration.ofHours(1)).toFuture();
      assertThat(loop.runSome(Duration.ofHours(1))).isEqualTo(1);
      assertThat(late).isCancelled();
      long began = System.nanoTime();
      assertThat(loop.runSome(Duration.ofMillis(20))).isZero();
      assertThat(System.nanoTime() - began).as("nanoseconds").isGreaterThanOrEqualTo(20_000_000);
      pipe.reader().close();
      pipe.writer().close();
    }
  }

  // r[verify loop.stop.nonew]
  @EveryBackend
  void whatIsInFlightAtTheStopCompletesAsStopped(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend);
        Arena arena = Arena.ofShared()) {
      var pipe = Descriptor.pipe(driven.loop());
      var read = pipe.reader().readSome(arena.allocate(4)).toFuture();
      var timer = driven.scheduler().after(Duration.ofHours(1)).toFuture();
      LoopSupport.get(driven.scheduler().schedule().toFuture());
      driven.loop().requestStop();
      driven.joined();
      assertThat(read).isCancelled();
      assertThat(timer).isCancelled();
      assertThat(driven.loop().inFlight()).isZero();
      pipe.reader().close();
      pipe.writer().close();
    }
  }

  // Regression: on epoll, all reads postponed by the quota of a turn were still made, turn by turn.
  // r[verify loop.stop.nonew]
  @EveryBackend
  void whatWasPutOffToTheNextTurnCompletesAsStopped(Backend backend) throws IOException {
    LoopOptions oneInATurn = LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(1 << 20, 1);
    try (EventLoop loop = EventLoop.open(oneInATurn)) {
      RegularFile zeros =
          DescriptorSupport.result(
              loop, RegularFile.open(loop, Path.of("/dev/zero"), OpenFlags.READ_ONLY, 0));
      var pair = StreamSocket.pair(loop, loop);
      DescriptorSupport.send(pair.second(), "xxxxxxxxxx");
      var outcomes = new ArrayList<Outcome>();
      loop.scheduler()
          .execute(
              () -> {
                for (int i = 0; i < 10; i++) {
                  MemorySegment buffer = Arena.ofAuto().allocate(1);
                  zeros.readSome(buffer).start(read -> outcomes.add(read.outcome()));
                  pair.first().readSome(buffer).start(read -> outcomes.add(read.outcome()));
                }
                loop.requestStop();
              });
      loop.run();
      assertThat(outcomes).hasSize(20);
      assertThat(outcomes.stream().filter(Outcome.VALUE::equals)).hasSizeLessThanOrEqualTo(2);
      zeros.close();
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.stop.nonew]
  @EveryBackend
  void aSubmitThatRacesTheStopCompletesExactlyOnce(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(5_000, 100_000);
    var barrier = new CyclicBarrier(2);
    var completions = new AtomicInteger();
    var current = new AtomicReference<EventLoop>();
    Thread submitter =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    for (int i = 0; i < rounds; i++) {
                      barrier.await();
                      Scheduler scheduler = requireNonNull(current.get()).scheduler();
                      Operation<Void> operation =
                          i % 2 == 0 ? scheduler.schedule() : scheduler.after(Duration.ofHours(1));
                      spin(i % 64);
                      operation.start(_ -> completions.incrementAndGet());
                      barrier.await();
                    }
                  } catch (Exception e) {
                    throw new AssertionError(e);
                  }
                });
    for (int i = 0; i < rounds; i++) {
      try (EventLoop loop = EventLoop.open(backend)) {
        current.set(loop);
        loop.scheduler().execute(loop::requestStop);
        completions.set(0);
        barrier.await();
        loop.run();
        barrier.await();
        assertThat(completions).hasValue(1);
      }
    }
    LoopSupport.join(submitter);
  }

  // Regression: the loop missed a wake-up that came just before a turn.
  // r[verify loop.stop.flag]
  @EveryBackend
  void aStopThatComesAtAnyMomentIsSeen(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(1_000, 50_000);
    for (int i = 0; i < rounds; i++) {
      try (Driven driven = Driven.open(backend)) {
        driven.scheduler().execute(() -> {});
        spin(i % 512);
        driven.loop().requestStop();
      }
    }
  }

  // r[verify loop.run.sender]
  @EveryBackend
  void aTokenThatFiresAtAnyMomentEndsTheRun(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(1_000, 50_000);
    EventLoop loop = EventLoop.open(backend);
    for (int i = 0; i < rounds; i++) {
      var source = new StopSource();
      loop.scheduler().execute(() -> {});
      Driven driven = Driven.of(loop, RunMode.STOPPED, source.token());
      spin(i % 512);
      source.requestStop();
      assertThat(driven.joined()).isEqualTo(Outcome.STOPPED);
    }
    loop.close();
  }

  private static void spin(int times) {
    for (int i = 0; i < times; i++) {
      Thread.onSpinWait();
    }
  }
}
