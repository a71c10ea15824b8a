package dev.belfry.loop;

import static dev.belfry.loop.LoopSupport.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.linux.ErrnoException;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;

/** What coroutines do, and what is done to them, while their loop runs. */
final class CoroutineTest {
  /** A body that does I/O may throw, without having to return a dummy result. */
  @EveryBackend
  void aBodyWithoutAResultMayThrow(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var closed = Descriptor.pipe(driven.loop());
      closed.reader().close();
      closed.writer().close();
      Coroutine<Void> reader =
          driven
              .loop()
              .spawn(
                  "reader",
                  () -> {
                    int _ = closed.reader().readSome(Arena.ofAuto().allocate(1)).await();
                  });
      assertThat(reader.result())
          .failsWithin(PATIENCE)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(ErrnoException.class);
    }
  }

  @EveryBackend
  @SuppressWarnings("ThreadPriorityCheck") // a yield gives up the loop thread
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

  // Regression: the exception was only in the result, which was not asked for, and the program just
  // stood still.
  @EveryBackend
  void whatEndsACoroutineIsLoggedIfNobodyAsksForItsResult(Backend backend) throws Exception {
    try (Quiet log = Quiet.log(EventLoop.class);
        Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      loop.scheduler()
          .execute(
              () -> {
                loop.spawn("broken", LoopSupport.failing(new IllegalStateException("a mistake")));
                loop.spawn("cut off", LoopSupport.failing(new IOException("peer has gone")));
                var _ = loop.spawn("asked", LoopSupport.failing(new IOException("told"))).result();
                loop.spawn("stopped", LoopSupport.failing(new StoppedException("on purpose")));
                loop.spawn("interrupted", LoopSupport.failing(new InterruptedException()));
              });
      driven.asleep();
      assertThat(log.messages()).hasSize(2);
      assertThat(log.messages().getFirst()).contains("coroutine broken");
      assertThat(log.messages().getLast()).contains("coroutine cut off", "peer has gone");
    }
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
}
