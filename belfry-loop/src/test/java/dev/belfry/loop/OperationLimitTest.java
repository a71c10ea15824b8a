package dev.belfry.loop;

import static dev.belfry.loop.LoopSupport.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Awaiting an operation with a time limit, and with a token beside it. */
final class OperationLimitTest {
  private static void assertLimited(TransferOperation read) {
    long began = System.nanoTime();
    assertThatExceptionOfType(OperationTimeoutException.class)
        .isThrownBy(() -> read.await(Duration.ofMillis(5)))
        .withMessage(read + " took longer than PT0.005S");
    assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(5_000_000);
  }

  // r[verify loop.op.limit]
  @EveryBackend
  void anOperationIsAwaitedNoLongerThanALimit(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var pair = StreamSocket.pair(driven.loop(), driven.loop());
      TransferOperation read = pair.first().readSome(Arena.ofAuto().allocate(4));
      assertLimited(read);
      var limited = new CountDownLatch(1);
      Coroutine<Integer> reader =
          driven
              .loop()
              .spawn(
                  "reader",
                  () -> {
                    assertLimited(read);
                    limited.countDown();
                    return read.await(Duration.ofHours(1));
                  });
      LoopSupport.await(limited);
      pair.second().writeAll(Arena.ofAuto().allocate(3)).await(PATIENCE);
      assertThat(LoopSupport.get(reader.result())).isEqualTo(3);
      driven.asleep();
      assertThat(driven.loop().inFlight()).isZero();
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.op.limit]
  @EveryBackend
  void anOperationThatIsStoppedBeforeItsLimitIsNotLate(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var pair = StreamSocket.pair(driven.loop(), driven.loop());
      TransferOperation read = pair.first().readSome(Arena.ofAuto().allocate(4));
      Coroutine<Integer> interrupted =
          driven.loop().spawn("interrupted", () -> read.await(Duration.ofHours(1)));
      driven.asleep();
      interrupted.cancel();
      LoopSupport.await(interrupted.result()::isDone);
      assertThat(interrupted.result()).isCancelled();
      Coroutine<Integer> closed =
          driven.loop().spawn("closed", () -> read.await(Duration.ofHours(1)));
      driven.asleep();
      pair.first().close();
      LoopSupport.await(closed.result()::isDone);
      assertThat(closed.result()).isCancelled();
      driven.asleep();
      assertThat(driven.loop().inFlight()).isZero();
      pair.second().close();
    }
  }

  /** Awaits what never comes, for an hour at most, on a platform thread. */
  private static FutureTask<Integer> awaitOnThread(TransferOperation read, StopToken token) {
    var wait = new FutureTask<>(() -> read.await(Duration.ofHours(1), token));
    Thread thread = Thread.ofPlatform().daemon().start(wait);
    LoopSupport.await(() -> wait.isDone() || thread.getState() == Thread.State.WAITING);
    return wait;
  }

  private static void assertStopped(FutureTask<Integer> wait) {
    assertThat(wait)
        .failsWithin(PATIENCE)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(StoppedException.class);
  }

  // r[verify loop.op.limit]
  @EveryBackend
  void aTokenEndsAnAwaitBeforeItsLimit(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      TransferOperation read = pair.first().readSome(Arena.ofAuto().allocate(4));
      var first = new StopSource();
      Coroutine<Integer> reader =
          loop.spawn("reader", () -> read.await(Duration.ofHours(1), first.token()));
      driven.asleep();
      first.requestStop();
      LoopSupport.await(reader.result()::isDone);
      assertThat(reader.result()).isCancelled();
      var second = new StopSource();
      FutureTask<Integer> wait = awaitOnThread(read, second.token());
      second.requestStop();
      assertStopped(wait);

      var unused = new StopSource();
      assertThatExceptionOfType(OperationTimeoutException.class)
          .isThrownBy(() -> read.await(Duration.ofMillis(5), unused.token()));
      pair.second().writeAll(Arena.ofAuto().allocate(3)).await(PATIENCE);
      assertThat(read.await(PATIENCE, unused.token())).isEqualTo(3);
      driven.asleep();
      assertThat(loop.inFlight()).isZero();
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.op.limit]
  @EveryBackend
  void aTokenThatHasFiredKeepsALimitedAwaitFromItsAttempt(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      TransferOperation read = pair.first().readSome(Arena.ofAuto().allocate(4));
      pair.second().writeAll(Arena.ofAuto().allocate(3)).await(PATIENCE);
      Coroutine<Integer> reader =
          loop.spawn("reader", () -> read.await(Duration.ofHours(1), StopToken.FIRED));
      LoopSupport.await(reader.result()::isDone);
      assertThat(reader.result()).isCancelled();
      assertStopped(awaitOnThread(read, StopToken.FIRED));
      assertThat(read.await(PATIENCE)).isEqualTo(3);
      driven.asleep();
      assertThat(loop.inFlight()).isZero();
      pair.first().close();
      pair.second().close();
    }
  }

  /** In each round a byte, the end of a limit and a token race for a read. */
  private static void race(
      TransferOperation read, TransferOperation write, int rounds, Executor other)
      throws Exception {
    for (int i = 0; i < rounds; i++) {
      var source = new StopSource();
      boolean stopFirst = i % 4 == 0;
      int spins = i % 61 * 100;
      CompletableFuture<Void> done =
          CompletableFuture.runAsync(
              () -> {
                if (stopFirst) {
                  source.requestStop();
                }
                var written = write.toFuture();
                for (int spin = 0; spin < spins; spin++) {
                  Thread.onSpinWait();
                }
                source.requestStop();
                written.join();
              },
              other);
      boolean won = false;
      try {
        won = read.await(Duration.ofNanos(i % 53 * 4_000L), source.token()) == 1;
      } catch (StoppedException e) {
        assertThat(source.isStopRequested()).isTrue();
      } catch (OperationTimeoutException timeIsUp) {
        // The byte is still there.
      }
      LoopSupport.get(done);
      if (!won) {
        assertThat(read.await(PATIENCE)).isEqualTo(1);
      }
    }
  }

  // r[verify loop.op.limit]
  @EveryBackend
  void aValueALimitAndATokenMayRace(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(1_000, 50_000);
    try (Driven driven = Driven.open(backend);
        ExecutorService other = Executors.newSingleThreadExecutor()) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      TransferOperation read = pair.first().readSome(Arena.ofAuto().allocate(1));
      TransferOperation write = pair.second().writeAll(Arena.ofAuto().allocate(1));
      race(read, write, rounds, other);
      Coroutine<Void> racer = loop.spawn("racer", () -> race(read, write, rounds, other));
      racer.result().get(10, TimeUnit.MINUTES);
      pair.second().close();
      assertThat(read.await(PATIENCE)).as("a byte that came twice").isNegative();
      driven.asleep();
      assertThat(loop.inFlight()).isZero();
      pair.first().close();
    }
  }
}
