package dev.belfry.loop;

import static dev.belfry.linux.Errno.EBADF;
import static dev.belfry.loop.LoopSupport.PATIENCE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.linux.ErrnoException;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The three ways to use an operation, and how each is cancelled. */
final class OperationUseTest {

  @EveryBackend
  void aCompletionIsNeverCalledInsideStart(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var inside = new ArrayList<Boolean>();
      var completed = new AtomicInteger();
      loop.scheduler()
          .execute(
              () -> {
                var starting = new AtomicBoolean(true);
                Completion<Void> note =
                    _ -> {
                      inside.add(starting.get());
                      completed.incrementAndGet();
                    };
                var fired = new StopSource();
                fired.requestStop();
                loop.scheduler().schedule().start(note);
                loop.scheduler().after(Duration.ZERO).start(note);
                loop.scheduler().after(Duration.ZERO).start(note, fired.token());
                starting.set(false);
              });
      LoopSupport.drive(loop, () -> completed.get() == 3);
      assertThat(inside).containsOnly(false);
    }
  }

  @EveryBackend
  void anOperationSaysHowItEnded(Backend backend) throws Exception {
    try (EventLoop loop = EventLoop.open(backend);
        Arena arena = Arena.ofConfined()) {
      ScheduleOperation task = loop.scheduler().schedule();
      assertThatIllegalStateException().isThrownBy(task::outcome);
      task.start(_ -> {});
      loop.runOne();
      assertThat(task.outcome()).isEqualTo(Outcome.VALUE);
      assertThat(task.error()).isNull();
      assertThat(task.result()).isNull();

      var pipe = Descriptor.pipe(loop);
      TransferOperation read = pipe.reader().readSome(arena.allocate(4));
      pipe.reader().close();
      pipe.writer().close();
      loop.runUntilEmpty();
      read.start(_ -> {});
      loop.runUntilEmpty();
      assertThat(read.outcome()).isEqualTo(Outcome.ERROR);
      assertThatExceptionOfType(ErrnoException.class)
          .isThrownBy(read::result)
          .satisfies(e -> assertThat(e.errno()).isEqualTo(EBADF));

      TimerOperation timer = loop.scheduler().after(PATIENCE);
      timer.start(_ -> {});
      timer.cancel();
      loop.runUntilEmpty();
      assertThat(timer.outcome()).isEqualTo(Outcome.STOPPED);
      assertThatExceptionOfType(StoppedException.class).isThrownBy(timer::result);
    }
  }

  @EveryBackend
  void anyThreadButTheLoopsMayAwait(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      TimerOperation timer = driven.scheduler().after(Duration.ofMillis(5));
      timer.await();
      assertThat(System.nanoTime() - timer.deadline()).isNotNegative();
      timer.await();
      var refused = new CompletableFuture<Void>();
      driven
          .scheduler()
          .execute(
              () -> {
                try {
                  timer.await();
                  refused.complete(TimerOperation.nothing());
                } catch (IOException | RuntimeException e) {
                  refused.completeExceptionally(e);
                }
              });
      assertThat(refused)
          .failsWithin(PATIENCE)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(IllegalStateException.class);
      timer.await(); // the refused await has not started it
    }
  }

  @EveryBackend
  void interruptingAnAwaitingThreadStopsTheOperation(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      TimerOperation timer = driven.scheduler().after(Duration.ofHours(1));
      for (Thread.Builder kind : new Thread.Builder[] {Thread.ofPlatform(), Thread.ofVirtual()}) {
        var stillInterrupted = new CompletableFuture<Boolean>();
        Thread thread =
            kind.start(
                () -> {
                  try {
                    timer.await();
                    stillInterrupted.completeExceptionally(new AssertionError("it fired"));
                  } catch (StoppedException e) {
                    stillInterrupted.complete(Thread.currentThread().isInterrupted());
                  } catch (IOException e) {
                    stillInterrupted.completeExceptionally(e);
                  }
                });
        LoopSupport.await(() -> thread.getState() == Thread.State.WAITING);
        thread.interrupt();
        assertThat(LoopSupport.get(stillInterrupted)).isTrue();
      }
      assertThat(LoopSupport.get(inFlight(driven))).isZero();
    }
  }

  private static CompletableFuture<Long> inFlight(Driven driven) {
    var count = new CompletableFuture<Long>();
    driven.scheduler().execute(() -> count.complete(driven.loop().inFlight()));
    return count;
  }

  @EveryBackend
  void aThreadThatWasInterruptedBeforeDoesNotWait(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      TimerOperation timer = driven.scheduler().after(Duration.ofHours(1));
      Thread.currentThread().interrupt();
      try {
        assertThatExceptionOfType(StoppedException.class).isThrownBy(timer::await);
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }
    }
  }

  @EveryBackend
  void aTokenEndsAnAwait(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      TimerOperation timer = driven.scheduler().after(Duration.ofHours(1));
      var source = new StopSource();
      var stopped = new CompletableFuture<Boolean>();
      Thread thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      timer.await(source.token());
                    } catch (StoppedException e) {
                      stopped.complete(Thread.currentThread().isInterrupted());
                    } catch (IOException e) {
                      stopped.completeExceptionally(e);
                    }
                  });
      LoopSupport.await(() -> thread.getState() == Thread.State.WAITING);
      source.requestStop();
      assertThat(LoopSupport.get(stopped)).isFalse();
    }
  }

  @EveryBackend
  void aFutureHasTheResultAndItsCancelStopsTheOperation(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend);
        Arena arena = Arena.ofShared()) {
      var pair = StreamSocket.pair(driven.loop(), driven.loop());
      TransferOperation read = pair.first().readSome(arena.allocate(8));
      var reading = read.toFuture();
      assertThat(LoopSupport.get(pair.second().writeAll(arena.allocateFrom("abc")).toFuture()))
          .isEqualTo(4);
      assertThat(LoopSupport.get(reading)).isEqualTo(4);

      var cancelled = read.toFuture();
      assertThat(cancelled.cancel(true)).isTrue();
      assertThat(cancelled).isCancelled();
      LoopSupport.await(() -> isIdle(read)); // stopped on the loop a moment later
      assertThat(LoopSupport.get(inFlight(driven))).isZero();

      var source = new StopSource();
      var stopped = read.toFuture(source.token());
      source.requestStop();
      assertThat(stopped).failsWithin(PATIENCE);
      assertThat(stopped).isCancelled();

      pair.first().close();
      pair.second().close();
      LoopSupport.get(driven.scheduler().schedule().toFuture());
      assertThat(read.toFuture())
          .failsWithin(PATIENCE)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(ErrnoException.class);
    }
  }

  private static boolean isIdle(Operation<?> operation) {
    try {
      return operation.outcome() == Outcome.STOPPED;
    } catch (IllegalStateException running) {
      return false;
    }
  }

  // Regression: the operation went on. A read took the data meant for the next one, and an accept
  // took a connection, which was then closed.
  @EveryBackend
  void aFutureThatSomebodyElseCompletesStopsTheOperation(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      Arena arena = Arena.ofAuto();
      var pair = StreamSocket.pair(driven.loop(), driven.loop());
      TransferOperation read = pair.first().readSome(arena.allocate(8));
      List<Consumer<CompletableFuture<Integer>>> ends =
          List.of(
              future -> future.complete(0),
              future -> future.completeExceptionally(new IOException("not now")),
              future -> future.orTimeout(1, TimeUnit.MILLISECONDS),
              future -> future.completeOnTimeout(0, 1, TimeUnit.MILLISECONDS),
              future -> future.completeAsync(() -> 0),
              future ->
                  future.completeAsync(
                      () -> {
                        throw new IllegalStateException("not now");
                      }),
              future -> future.obtrudeValue(0),
              future -> future.obtrudeException(new IOException("not now")));
      for (var end : ends) {
        var future = read.toFuture();
        end.accept(future);
        LoopSupport.await(future::isDone);
        LoopSupport.await(() -> inFlight(driven).join() == 0); // stopped a moment later
        assertThat(read.outcome()).isEqualTo(Outcome.STOPPED);
      }
      var reading = read.toFuture();
      LoopSupport.get(pair.second().writeAll(arena.allocateFrom("abc")).toFuture());
      assertThat(LoopSupport.get(reading)).isEqualTo(4);
      pair.first().close();
      pair.second().close();
    }
  }

  // Regression: the operation was stopped only after dependents were told, and took what they
  // waited for next.
  @EveryBackend
  void whoIsToldThatAFutureWasEndedFindsItsOperationOutOfTheWay(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      Arena arena = Arena.ofAuto();
      var pair = StreamSocket.pair(driven.loop(), driven.loop());
      var next = pair.first().readSome(arena.allocate(8));
      List<Consumer<CompletableFuture<Integer>>> ends =
          List.of(
              future -> future.cancel(false),
              future -> future.complete(0),
              future -> future.completeExceptionally(new IOException("not now")),
              future -> future.completeAsync(() -> 0, Runnable::run),
              future -> future.obtrudeValue(0),
              future -> future.obtrudeException(new IOException("not now")));
      for (var end : ends) {
        var given = pair.first().readSome(arena.allocate(8)).toFuture();
        var answer =
            given
                .exceptionally(_ -> 0)
                .thenCompose(
                    _ -> {
                      pair.second().writeAll(arena.allocateFrom("abc")).toFuture().join();
                      driven.asleep(); // a pending read has the data by now
                      return next.toFuture();
                    });
        driven.asleep(); // in the read
        end.accept(given);
        assertThat(LoopSupport.get(answer)).isEqualTo(4);
      }
      pair.first().close();
      pair.second().close();
    }
  }

  // Regression: a future cancelled earlier stopped whatever its operation was doing now.
  // r[verify loop.mt.lifetime]
  @EveryBackend
  void anOldFutureDoesNotCancelALaterStart(Backend backend) throws Exception {
    try (EventLoop loop = EventLoop.open(backend)) {
      TimerOperation timer = loop.scheduler().after(Duration.ofMillis(10));
      var first = timer.toFuture();
      assertThat(first.cancel(false)).isTrue();
      loop.runUntilEmpty();
      var second = timer.toFuture();
      loop.runSome();
      assertThat(first.cancel(false)).isTrue();
      LoopSupport.drive(loop, second::isDone);
      assertThat(second).isCompleted();
    }
  }

  // Regression: a cancel on the loop thread was lost if the start was still on its way there.
  @EveryBackend
  void theLoopCancelsWhatAnotherThreadHasJustStarted(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      TimerOperation timer = driven.scheduler().after(Duration.ofHours(1));
      var inside = new CountDownLatch(1);
      var started = new CountDownLatch(1);
      driven
          .scheduler()
          .execute(
              () -> {
                inside.countDown();
                try {
                  LoopSupport.await(started);
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
                timer.cancel();
              });
      LoopSupport.await(inside);
      var stopped = timer.toFuture();
      started.countDown();
      assertThat(stopped).failsWithin(PATIENCE);
      assertThat(timer.outcome()).isEqualTo(Outcome.STOPPED);
      timer.after(Duration.ZERO).await(); // the cancel does not outlive that start
    }
  }

  // Regression: the count of starts wrapped around to its initial value, and the start was taken
  // for a cancelled one.
  // r[verify loop.mt.lifetime]
  @Test
  void anOperationMayBeStartedMoreOftenThanAnIntCounts() throws Exception {
    Field starts = OperationCore.class.getDeclaredField("starts");
    starts.setAccessible(true);
    try (EventLoop loop = EventLoop.open()) {
      ScheduleOperation task = loop.scheduler().schedule();
      starts.setLong(task, 0xFFFF_FFFFL);
      task.start(_ -> {});
      loop.runUntilEmpty();
      assertThat(task.outcome()).isEqualTo(Outcome.VALUE);
    }
  }

  @EveryBackend
  void cancellingWhatIsNotInFlightDoesNothing(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      TimerOperation timer = driven.scheduler().after(Duration.ZERO);
      timer.cancel();
      timer.await();
      timer.cancel();
      timer.await();
      assertThat(timer.hasValue()).isTrue();
    }
  }

  // r[verify loop.mt.lifetime]
  @EveryBackend
  void cancelAndCompletionMayRace(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(5_000, 100_000);
    try (Driven driven = Driven.open(backend)) {
      TimerOperation timer = driven.scheduler().after(Duration.ZERO);
      var outcomes = new AtomicInteger();
      for (int i = 0; i < rounds; i++) {
        var source = new StopSource();
        var done = new CountDownLatch(1);
        outcomes.set(0);
        timer.start(
            _ -> {
              outcomes.incrementAndGet();
              done.countDown();
            },
            source.token());
        if (i % 2 == 0) {
          source.requestStop();
        } else {
          timer.cancel();
        }
        LoopSupport.await(done);
        assertThat(outcomes).hasValue(1);
      }
      assertThat(LoopSupport.get(inFlight(driven))).isZero();
    }
  }

  // Regression: a token that fired too late for one start stopped the next, which had another
  // token.
  // r[verify loop.mt.lifetime]
  @EveryBackend
  void aTokenStopsOnlyTheStartItWasGivenTo(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(10_000, 200_000);
    var barrier = new CyclicBarrier(2);
    var source = new AtomicReference<>(new StopSource());
    Thread stopper =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    for (int i = 0; i < rounds; i++) {
                      barrier.await();
                      requireNonNull(source.get()).requestStop();
                      barrier.await();
                    }
                  } catch (Exception e) {
                    throw new AssertionError(e);
                  }
                });
    try (EventLoop loop = EventLoop.open(backend)) {
      var other = new StopSource();
      ScheduleOperation task = loop.scheduler().schedule();
      var wrong = new AtomicInteger();
      for (int i = 0; i < rounds; i++) {
        source.set(new StopSource());
        var done = new AtomicBoolean();
        task.start(
            _ ->
                task.start(
                    second -> {
                      if (!second.hasValue()) {
                        wrong.incrementAndGet();
                      }
                      done.set(true);
                    },
                    other.token()),
            requireNonNull(source.get()).token());
        barrier.await();
        LoopSupport.drive(loop, done::get);
        barrier.await();
      }
      assertThat(wrong).hasValue(0);
    }
    LoopSupport.join(stopper);
  }
}
