package dev.belfry.loop;

import static dev.belfry.linux.Errno.EBADF;
import static dev.belfry.loop.LoopSupport.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.linux.ErrnoException;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

final class CoroutineTest {

  @Test
  void thisVirtualMachineLetsLoopsScheduleVirtualThreads() {
    assertThat(LoopCarrier.unavailabilityCause()).isEmpty();
  }

  @EveryBackend
  @SuppressWarnings("ThreadPriorityCheck") // a yield gives the loop thread away
  void aCoroutineRunsAndResumesOnTheLoopThread(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      Coroutine<String> coroutine =
          loop.spawn(
              "greeter",
              () -> {
                var carriers = new ArrayList<Thread>();
                carriers.add(LoopCarrier.currentCarrier());
                loop.sleep(Duration.ofMillis(1));
                carriers.add(LoopCarrier.currentCarrier());
                loop.scheduler().schedule().await();
                carriers.add(LoopCarrier.currentCarrier());
                Thread.yield();
                carriers.add(LoopCarrier.currentCarrier());
                LockSupport.parkNanos(1_000_000);
                carriers.add(LoopCarrier.currentCarrier());
                assertThat(loop.inLoop()).isTrue();
                assertThat(carriers).containsOnly(driven.thread());
                return "hello from " + Thread.currentThread().getName();
              });
      assertThat(coroutine.name()).isEqualTo("greeter");
      assertThat(coroutine.thread().isVirtual()).isTrue();
      assertThat(LoopSupport.get(coroutine.result())).isEqualTo("hello from greeter");
      assertThat(coroutine.toString()).contains("greeter");
    }
  }

  @EveryBackend
  void coroutinesEchoToEachOther(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend);
        Arena arena = Arena.ofShared()) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      Coroutine<Integer> echo =
          loop.spawn(
              "echo",
              () -> {
                var buffer = arena.allocate(16);
                int rounds = 0;
                while (pair.second().readSome(buffer).await() > 0) {
                  pair.second().writeAll(buffer).await();
                  rounds++;
                }
                pair.second().close();
                return rounds;
              });
      Coroutine<Void> client =
          loop.spawn(
              "client",
              () -> {
                try {
                  var buffer = arena.allocate(16);
                  for (int i = 0; i < 1_000; i++) {
                    pair.first().writeAll(buffer).await();
                    assertThat(pair.first().readAll(buffer).await()).isEqualTo(16);
                  }
                  pair.first().close();
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });
      LoopSupport.get(client.result());
      assertThat(LoopSupport.get(echo.result())).isEqualTo(1_000);
    }
  }

  @EveryBackend
  void cancellingACoroutineStopsWhatItAwaits(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      Coroutine<Boolean> sleeper =
          loop.spawn(
              "sleeper",
              () -> {
                try {
                  loop.sleep(Duration.ofHours(1));
                  return false;
                } catch (StoppedException e) {
                  return Thread.currentThread().isInterrupted();
                }
              });
      LoopSupport.await(() -> sleeper.thread().getState() == Thread.State.WAITING);
      sleeper.cancel();
      assertThat(LoopSupport.get(sleeper.result())).isTrue();
    }
  }

  @EveryBackend
  void aCoroutineThatThrowsFailsItsResultAlone(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      Coroutine<Integer> thrower =
          driven
              .loop()
              .spawn(
                  "thrower",
                  () -> {
                    throw new IOException("no");
                  });
      assertThat(thrower.result())
          .failsWithin(PATIENCE)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(IOException.class);
      LoopSupport.get(driven.scheduler().schedule().toFuture());
    }
  }

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
  void unparkingFromManyThreadsLosesNoCoroutine(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(2_000, 50_000);
    try (Driven driven = Driven.open(backend)) {
      var turn = new AtomicInteger();
      Coroutine<Void> coroutine =
          driven
              .loop()
              .spawn(
                  "parker",
                  () -> {
                    while (turn.get() < rounds) {
                      LockSupport.park();
                    }
                  });
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < 4; i++) {
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      while (turn.incrementAndGet() < rounds + 8) {
                        LockSupport.unpark(coroutine.thread());
                      }
                      LockSupport.unpark(coroutine.thread());
                    }));
      }
      LoopSupport.get(coroutine.result());
      for (Thread thread : threads) {
        LoopSupport.join(thread);
      }
    }
  }

  // A coroutine that waits for a lock gives the thread away, also in the middle of a start: a
  // cancel that came then withdrew what had not begun, and the operation completed twice.
  // r[verify loop.mt.lifetime]
  @EveryBackend
  void aCancelReachesAStartThatWaitsForALock(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var source = new StopSource();
      StopToken token = source.token();
      TimerOperation timer = loop.scheduler().after(Duration.ofHours(1));
      Coroutine<Boolean> waiter;
      synchronized (token) {
        waiter = awaitingItsStop(timer, token);
        LoopSupport.await(() -> waiter.thread().getState() == Thread.State.BLOCKED);
        timer.cancel();
        LoopSupport.get(loop.scheduler().schedule().toFuture()); // the loop has seen the cancel
      }
      assertThat(LoopSupport.get(waiter.result())).isTrue();
      checkCounts(loop);
    }
  }

  // r[verify loop.mt.lifetime]
  @EveryBackend
  void aCompletionThatWaitsForALockHappensOnce(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var source = new StopSource();
      StopToken token = source.token();
      TimerOperation timer = loop.scheduler().after(Duration.ofHours(1));
      Coroutine<Boolean> waiter = awaitingItsStop(timer, token);
      LoopSupport.await(() -> waiter.thread().getState() == Thread.State.WAITING);
      synchronized (token) {
        waiter.cancel(); // it withdraws the timer and waits for the token's lock
        LoopSupport.await(() -> waiter.thread().getState() == Thread.State.BLOCKED);
        timer.cancel();
        LoopSupport.get(loop.scheduler().schedule().toFuture());
      }
      assertThat(LoopSupport.get(waiter.result())).isTrue();
      checkCounts(loop);
    }
  }

  /** A coroutine that awaits an operation and says whether that was stopped. */
  private static Coroutine<Boolean> awaitingItsStop(Operation<?> operation, StopToken token) {
    return operation.loop.spawn(
        "waiter",
        () -> {
          try {
            operation.await(token);
            return false;
          } catch (StoppedException e) {
            return true;
          }
        });
  }

  private static void checkCounts(EventLoop loop) throws Exception {
    var counts = new CompletableFuture<String>();
    loop.scheduler().execute(() -> counts.complete(loop.inFlight() + " " + loop.timers.pending()));
    assertThat(LoopSupport.get(counts)).isEqualTo("0 0");
  }

  @EveryBackend
  void aCoroutineCannotDriveOrCloseItsLoop(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      Coroutine<Void> coroutine =
          loop.spawn(
              "driver",
              () -> {
                assertThatIllegalStateException().isThrownBy(loop::run);
                assertThatIllegalStateException().isThrownBy(loop::runSome);
                assertThatIllegalStateException().isThrownBy(loop::close);
              });
      LoopSupport.get(coroutine.result());
    }
  }

  @EveryBackend
  @SuppressWarnings("ThreadPriorityCheck") // a yield gives the loop thread away
  void threadsThatACoroutineStartsRunOnTheLoopToo(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var child = new CompletableFuture<Thread>();
      Coroutine<Void> parent =
          driven
              .loop()
              .spawn(
                  "parent",
                  () -> {
                    try {
                      Thread.startVirtualThread(
                              () -> {
                                Thread.yield();
                                child.complete(LoopCarrier.currentCarrier());
                              })
                          .join();
                    } catch (InterruptedException e) {
                      throw new AssertionError(e);
                    }
                  });
      LoopSupport.get(parent.result());
      assertThat(LoopSupport.get(child)).isEqualTo(driven.thread());
    }
  }

  // What went wrong: they were never continued, and whoever wanted them to go on got an exception.
  @EveryBackend
  void threadsThatACoroutineStartedGoOnWhenTheLoopHasEnded(Backend backend) throws Exception {
    var gate = new CountDownLatch(1);
    Thread child;
    try (Driven driven = Driven.open(backend)) {
      Coroutine<Thread> parent =
          driven
              .loop()
              .spawn(
                  "parent",
                  () ->
                      Thread.startVirtualThread(
                          () -> {
                            try {
                              gate.await();
                            } catch (InterruptedException e) {
                              throw new AssertionError(e);
                            }
                          }));
      child = LoopSupport.get(parent.result());
      LoopSupport.await(() -> child.getState() == Thread.State.WAITING);
    }
    gate.countDown();
    LoopSupport.join(child);
  }

  // What went wrong: the JDK starts what waits for sockets on the scheduler of the first virtual
  // thread that needs it; so when the loop of that one had ended, no other got an answer.
  @Test
  void virtualThreadsGetTheirAnswersWhenTheLoopHasEnded() throws Exception {
    var command = new ArrayList<>(TestProcess.javaCommand(SocketsAfterTheLoop.class));
    command.add(1, "--add-opens=java.base/java.lang=ALL-UNNAMED");
    try (TestProcess child = TestProcess.start(command)) {
      assertThat(child.line("coroutine ")).isEqualTo("65");
      assertThat(child.line("thread ")).isEqualTo("66");
      assertThat(child.exitCode()).isZero();
    }
  }

  /** Reads from sockets of the JDK in a coroutine, and in a virtual thread after that. */
  static final class SocketsAfterTheLoop {
    private SocketsAfterTheLoop() {}

    public static void main(String[] arguments) throws Exception {
      try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
          var client = new Socket(listener.getInetAddress(), listener.getLocalPort());
          Socket server = listener.accept()) {
        try (Driven driven = Driven.open(Backend.EPOLL)) {
          Coroutine<Integer> reader =
              driven.loop().spawn("reader", () -> client.getInputStream().read());
          LoopSupport.await(() -> reader.thread().getState() == Thread.State.WAITING);
          server.getOutputStream().write('A');
          System.out.println("coroutine " + LoopSupport.get(reader.result()));
        }
        var read = new FutureTask<>(() -> client.getInputStream().read());
        Thread reader = Thread.startVirtualThread(read);
        LoopSupport.await(() -> reader.getState() == Thread.State.WAITING);
        server.getOutputStream().write('B');
        System.out.println("thread " + read.get(30, TimeUnit.SECONDS));
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

  @EveryBackend
  void withoutOpenInternalsCoroutinesResumeThroughTheLoop(Backend backend) throws Exception {
    try (TestProcess child = TestProcess.java(CoroutineChild.class, backend.name())) {
      assertThat(child.line("cause ")).contains("java.base/java.lang is not open");
      assertThat(child.line("sum ")).isEqualTo("1000");
      assertThat(child.line("refused ")).isEqualTo("loop group");
      assertThat(child.line("stopped ")).isEqualTo("20");
      assertThat(child.line("races ")).isEqualTo("500");
      child.endInput();
      assertThat(child.exitCode()).isZero();
    }
  }

  /** Runs in a JVM of its own, in which java.lang is not open. */
  static final class CoroutineChild {
    private CoroutineChild() {}

    /** Which closes a coroutine cannot make, because they would wait for it. */
    private static String refusedCloses(EventLoop loop, Backend backend) throws Exception {
      try (EventLoopGroup group =
          EventLoopGroup.open(1, LoopOptions.DEFAULT.withBackend(backend))) {
        group.start();
        return refusal("loop", loop, loop) + " " + refusal("group", group.next(), group);
      }
    }

    private static String refusal(String name, EventLoop loop, AutoCloseable closed)
        throws Exception {
      Coroutine<String> coroutine =
          loop.spawn(
              "closing",
              () -> {
                try {
                  closed.close();
                  return "no " + name;
                } catch (IllegalStateException refused) {
                  return name;
                }
              });
      return LoopSupport.get(coroutine.result());
    }

    public static void main(String[] arguments) throws Exception {
      Backend backend = Backend.valueOf(arguments[0]);
      System.out.println("cause " + LoopCarrier.unavailabilityCause().orElse("none"));
      try (Driven driven = Driven.open(backend)) {
        EventLoop loop = driven.loop();
        Coroutine<Integer> sum =
            loop.spawn(
                "sum",
                () -> {
                  int rounds = 0;
                  for (int i = 0; i < 1_000; i++) {
                    loop.scheduler().schedule().await();
                    rounds++;
                  }
                  loop.sleep(Duration.ofMillis(1));
                  return rounds;
                });
        System.out.println("sum " + LoopSupport.get(sum.result()));
        System.out.println("refused " + refusedCloses(loop, backend));
        var stopped = new CountDownLatch(20);
        for (int i = 0; i < 20; i++) {
          loop.spawn(
              "sleeper",
              () -> {
                try {
                  loop.sleep(Duration.ofHours(1));
                } finally {
                  stopped.countDown();
                }
              });
        }
        loop.requestStop();
        driven.joined();
        LoopSupport.await(stopped);
        System.out.println("stopped " + (20 - stopped.getCount()));
      }
      int races = 0;
      for (; races < 500; races++) {
        try (Driven driven = Driven.open(backend)) {
          EventLoop loop = driven.loop();
          Coroutine<Void> sleeper = loop.spawn("racer", () -> loop.sleep(Duration.ofHours(1)));
          for (int spin = races % 256; spin > 0; spin--) {
            Thread.onSpinWait();
          }
          loop.requestStop();
          driven.joined();
          LoopSupport.await(sleeper.result()::isDone);
        }
      }
      System.out.println("races " + races);
    }
  }
}
