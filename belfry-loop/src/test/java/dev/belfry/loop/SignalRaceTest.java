package dev.belfry.loop;

import static dev.belfry.loop.SignalLoop.RT;
import static dev.belfry.loop.SignalLoop.queue;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.time.Duration;
import java.util.BitSet;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Numbered signals race with the end of the waits for them. Each signal is received by the wait or
 * is pending afterwards; none is lost, and none comes twice.
 */
@InSignalJvm
final class SignalRaceTest {
  private static final int ROUNDS = LoopSupport.rounds(10_000, 100_000);
  private static final int LONGEST_PAUSE_NANOS = 60_000;

  // r[verify sig.cancel.notified] r[verify sig.cancel.waiting]
  @EveryBackend
  void cancelsRaceDeliveries(Backend backend) throws Exception {
    try (Race race = new Race(backend);
        Rival canceller = new Rival()) {
      SignalOperation wait = race.service.next(RT);
      for (int i = 0; i < ROUNDS; i++) {
        CompletableFuture<SignalInfo> result = new Result(wait);
        canceller.meanwhile(wait::cancel, race.pause());
        race.pause().run();
        queue(RT, i);
        race.settle(i, result);
        canceller.join();
      }
      race.assertBothWereSeen();
    }
  }

  // r[verify sig.cancel.notified] r[verify sig.cancel.waiting]
  @EveryBackend
  void interruptsOfCoroutinesRaceDeliveries(Backend backend) throws Exception {
    try (Race race = new Race(backend);
        Rival canceller = new Rival()) {
      for (int i = 0; i < ROUNDS; i++) {
        Coroutine<SignalInfo> coroutine =
            race.driven.loop().spawn("waiter", () -> race.service.await(RT));
        canceller.meanwhile(coroutine::cancel, race.pause());
        race.pause().run();
        queue(RT, i);
        race.settle(i, coroutine.result());
        canceller.join();
      }
      race.assertBothWereSeen();
    }
  }

  // r[verify sig.await.timed]
  @EveryBackend
  void deadlinesRaceDeliveries(Backend backend) throws Exception {
    try (Race race = new Race(backend)) {
      SignalOperation wait = race.service.next(RT);
      for (int i = 0; i < ROUNDS; i++) {
        wait.within(Duration.ofNanos(race.random.nextInt(4 * LONGEST_PAUSE_NANOS)));
        CompletableFuture<SignalInfo> result = new Result(wait);
        race.pause().run();
        queue(RT, i);
        race.settle(i, result);
      }
      race.assertBothWereSeen();
    }
  }

  /** The result of a wait. Not its future, which can be cancelled on its own. */
  private static final class Result extends CompletableFuture<SignalInfo> {
    Result(SignalOperation wait) {
      wait.start(
          done -> {
            if (done.hasValue()) {
              complete(done.value());
            } else {
              completeExceptionally(new CancellationException());
            }
          });
    }
  }

  /** A loop on a thread of its own, and the signals received. */
  private static final class Race implements AutoCloseable {
    final Driven driven;
    final SignalService service;
    final RandomGenerator random = RandomGeneratorFactory.getDefault().create(4711);
    private final BitSet seen = new BitSet();
    private int byWaiters;
    private int leftPending;

    Race(Backend backend) throws Exception {
      driven = Driven.open(backend);
      service = new SignalService(driven.loop());
      onLoop(
          () -> {
            service.attach(SignalSet.of(RT));
            return true;
          });
    }

    Runnable pause() {
      long nanos = random.nextInt(LONGEST_PAUSE_NANOS);
      return () -> {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
          Thread.onSpinWait();
        }
      };
    }

    /** Checks where the signal of a round went; there is no other one. */
    void settle(int number, CompletableFuture<SignalInfo> result) throws Exception {
      try {
        take(number, LoopSupport.get(result));
        byWaiters++;
      } catch (CancellationException | ExecutionException withoutSignal) {
        leftPending++;
        long deadline = System.nanoTime() + LoopSupport.PATIENCE.toNanos();
        Optional<SignalInfo> pending;
        do {
          assertThat(System.nanoTime() - deadline).as("signal " + number + " is lost").isNegative();
          pending = onLoop(() -> service.tryTake(RT));
        } while (pending.isEmpty());
        take(number, pending.get());
      }
      if (number % 1000 == 0) {
        System.out.println("round " + number); // a sign of life for the parent JVM
      }
    }

    private void take(int number, SignalInfo info) {
      assertThat(seen.get(info.intValue())).as("came twice").isFalse();
      seen.set(info.intValue());
      assertThat(info.intValue()).isEqualTo(number);
    }

    void assertBothWereSeen() throws Exception {
      assertThat(onLoop(() -> service.tryTake(RT))).isEmpty();
      assertThat(seen.cardinality()).isEqualTo(ROUNDS);
      assertThat(service.dropped(RT)).isZero();
      assertThat(byWaiters).isPositive();
      assertThat(leftPending).isPositive();
    }

    private <T> T onLoop(Callable<T> action) throws Exception {
      return LoopSupport.get(driven.loop().spawn("on the loop", action).result());
    }

    @Override
    public void close() {
      driven.close();
    }
  }

  /** Acts on another thread at the same time. */
  private static final class Rival implements AutoCloseable {
    private final CyclicBarrier barrier = new CyclicBarrier(2);
    private volatile Runnable action = () -> {};
    private volatile boolean over;

    Rival() {
      Thread.ofPlatform()
          .start(
              () -> {
                while (true) {
                  meet();
                  if (over) {
                    return;
                  }
                  action.run();
                  meet();
                }
              });
    }

    void meanwhile(Runnable cancel, Runnable pause) {
      action =
          () -> {
            pause.run();
            cancel.run();
          };
      meet();
    }

    void join() {
      meet();
    }

    private void meet() {
      try {
        barrier.await(LoopSupport.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      } catch (Exception e) {
        throw new AssertionError("the other thread does not come", e);
      }
    }

    @Override
    public void close() {
      over = true;
      meet();
    }
  }
}
