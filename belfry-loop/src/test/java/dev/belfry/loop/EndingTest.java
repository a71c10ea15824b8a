package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Io;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.NeedsIoUring;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.Thread.State;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A loop ends whatever its users do, and ends what was begun. */
final class EndingTest {
  @TempDir private Path directory;

  // r[verify loop.stop.nonew]
  @EveryBackend
  void aCallbackThatAlwaysStartsAgainDoesNotKeepTheLoop(Backend backend) {
    assertTimeoutPreemptively(
        LoopSupport.PATIENCE,
        () -> {
          var refusal = new AtomicReference<Throwable>();
          try (EventLoop loop = EventLoop.open(backend)) {
            TimerOperation timer = loop.scheduler().after(Duration.ofMillis(1));
            timer.start(
                new Completion<>() {
                  @Override
                  public void completed(Operation<? extends Void> done) {
                    loop.requestStop();
                    try {
                      timer.start(this); // whatever the outcome
                    } catch (IllegalStateException e) {
                      refusal.set(e);
                    }
                  }
                });
            loop.run();
          }
          assertThat(refusal.get()).hasMessageContaining("again and again: timer");
        });
  }

  // Regression: each completion ran inside the start made by the previous one, until the stack
  // overflowed.
  // r[verify loop.stop.nonew]
  @EveryBackend
  void aCallbackThatAlwaysStartsAgainOnALoopThatHasEndedIsRefused(Backend backend)
      throws IOException {
    EventLoop loop = EventLoop.open(backend);
    loop.close();
    TimerOperation timer = loop.scheduler().after(Duration.ofMillis(1));
    var refusal = new AtomicReference<Throwable>();
    timer.start(
        new Completion<>() {
          @Override
          public void completed(Operation<? extends Void> done) {
            try {
              timer.start(this);
            } catch (IllegalStateException | StackOverflowError e) {
              refusal.set(e);
            }
          }
        });
    assertThat(refusal.get()).hasMessageContaining("again and again: timer");
    assertThat(timer.toFuture()).isCancelled(); // it is no longer in flight
  }

  // r[verify loop.stop.nonew]
  @EveryBackend
  void whatACompletionStartsOnALoopThatHasEndedCompletesAfterIt(Backend backend)
      throws IOException {
    EventLoop loop = EventLoop.open(backend);
    loop.close();
    var order = new ArrayList<String>();
    Scheduler scheduler = loop.scheduler();
    try (Quiet _ = Quiet.log(EventLoop.class)) {
      scheduler
          .schedule()
          .start(
              first -> {
                scheduler.schedule().start(second -> order.add("second " + second.outcome()));
                assertThat(scheduler.schedule().toFuture()).isCancelled(); // nothing can wait here
                assertThatExceptionOfType(StoppedException.class)
                    .isThrownBy(() -> scheduler.schedule().await());
                order.add("first " + first.outcome());
                throw new IllegalStateException("which is logged, as on the loop");
              });
    }
    assertThat(order).containsExactly("first STOPPED", "second STOPPED");
  }

  // r[verify loop.stop.nonew]
  @EveryBackend
  void norDoesACoroutineThatAlwaysWaitsAgain(Backend backend) {
    assertTimeoutPreemptively(
        LoopSupport.PATIENCE,
        () -> {
          try (EventLoop loop = EventLoop.open(backend)) {
            Coroutine<Integer> stubborn =
                loop.spawn(
                    "stubborn",
                    () -> {
                      while (true) {
                        try {
                          loop.sleep(Duration.ofMillis(1));
                        } catch (StoppedException goesOn) {
                          loop.requestStop();
                        }
                      }
                    });
            loop.scheduler().execute(loop::requestStop);
            loop.run();
            assertThat(stubborn.result().exceptionNow()).hasMessageContaining("again and again");
          }
        });
  }

  // r[verify loop.run.drained]
  @EveryBackend
  void whatWasPostedBeforeTheStopIsDrained(Backend backend) throws Exception {
    try (EventLoop loop = EventLoop.open(backend)) {
      var timer = new AtomicReference<CompletableFuture<Void>>();
      LoopSupport.join(
          Thread.ofPlatform()
              .start(() -> timer.set(loop.scheduler().after(Duration.ofMillis(5)).toFuture())));
      loop.requestStop();
      loop.run(RunMode.DRAINED);
      assertThat(timer.get()).isCompleted();
    }
  }

  // r[verify loop.run.drained]
  @EveryBackend
  void anAcceptThatWaitsForADescriptorIsDrained(Backend backend) throws Exception {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var acceptor =
          Acceptor.open(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      var client = StreamSocket.open(loop, StandardProtocolFamily.INET);
      DescriptorSupport.result(loop, client.connect(acceptor.localAddress()));
      tapped.fail("accept4", Errno.EMFILE);
      var accept = DescriptorSupport.start(acceptor.accept());
      LoopSupport.drive(loop, () -> loop.metrics().acceptsPostponed() > 1);
      loop.requestStop();
      Thread.ofPlatform()
          .start(
              () -> {
                LoopSupport.await(() -> loop.metrics().acceptsPostponed() > 3);
                tapped.pass("accept4");
              });
      loop.run(RunMode.DRAINED);
      assertThat(accept.outcome()).isEqualTo(Outcome.VALUE);
      accept.value().close();
      client.close();
      acceptor.close();
    }
  }

  @EveryBackend
  void anAcceptorLeavesTheFileOfWhoListensThereAfterIt(Backend backend) throws Exception {
    Path path = directory.resolve("socket");
    var address = UnixDomainSocketAddress.of(path);
    try (EventLoop loop = EventLoop.open(backend)) {
      var old = Acceptor.open(loop, address);
      Files.delete(path);
      var young = Acceptor.open(loop, address);
      old.close();
      LoopSupport.drive(loop, old::isClosed);
      assertThat(path).exists();
      young.close();
      LoopSupport.drive(loop, young::isClosed);
      assertThat(path).doesNotExist();
    }
  }

  @Test
  void aVirtualThreadMayCloseALoopWithCoroutinesThatNobodyDrives() throws Exception {
    EventLoop loop = EventLoop.open();
    Coroutine<Void> sleeper = loop.spawn("sleeper", () -> loop.sleep(Duration.ofHours(1)));
    LoopSupport.join(Thread.ofVirtual().start(loop::close));
    assertThat(sleeper.result().handle((_, thrown) -> thrown).join())
        .isInstanceOf(StoppedException.class);
  }

  @EveryBackend
  void whoClosesALoopThatOthersAreClosingWaitsForThem(Backend backend) throws Exception {
    EventLoop loop = EventLoop.open(backend);
    var ending = new CompletableFuture<Outcome>();
    var goOn = new CompletableFuture<Void>();
    loop.scheduler()
        .after(Duration.ofHours(1))
        .start(
            timer -> {
              ending.complete(timer.outcome());
              goOn.join();
            });
    Thread first = Thread.ofPlatform().daemon().start(loop::close);
    assertThat(LoopSupport.get(ending)).isEqualTo(Outcome.STOPPED);
    var others = new ArrayList<Thread>();
    for (int i = 0; i < 2; i++) {
      Thread other = Thread.ofPlatform().daemon().start(loop::close);
      LoopSupport.await(
          () -> other.getState() == State.WAITING || other.getState() == State.BLOCKED);
      others.add(other);
    }
    goOn.complete(null);
    LoopSupport.join(first);
    for (Thread other : others) {
      LoopSupport.join(other);
    }
  }

  @Test
  void aLoopOfAGroupMayBeClosedBeforeItsThreadCameToIt() throws Exception {
    var escaped = new AtomicReference<Throwable>();
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((_, e) -> escaped.set(e));
    try {
      for (int i = 0; i < LoopSupport.rounds(50, 1000); i++) {
        try (var group = EventLoopGroup.open(2, LoopOptions.DEFAULT)) {
          group.start();
          group.loops().getFirst().close();
        }
      }
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
    assertThat(escaped.get()).isNull();
  }

  // Regression: a second closer released resources that the first was still releasing.
  // r[verify loop.ctx.owns]
  @EveryBackend
  void whoClosesALoopWhoseDescriptorsOthersCloseWaitsForThem(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    EventLoop loop = LoopSupport.open(backend, tap);
    var closing = new CompletableFuture<Void>();
    var goOn = new CompletableFuture<Void>();
    tap.script(
        "close",
        (nth, _) -> {
          if (nth == 1) {
            closing.complete(null);
            goOn.join();
          }
          return OptionalLong.empty();
        });
    Thread first = Thread.ofPlatform().daemon().start(loop::close);
    LoopSupport.get(closing);
    Thread second = Thread.ofPlatform().daemon().start(loop::close);
    LoopSupport.await(
        () -> second.getState() == State.WAITING || second.getState() == State.TERMINATED);
    assertThat(second.getState()).isEqualTo(State.WAITING);
    goOn.complete(null);
    LoopSupport.join(first);
    LoopSupport.join(second);
  }

  // Regression: requests with the kernel were withdrawn again and again, but could not come back.
  // r[verify loop.stop.nonew]
  @Test
  @NeedsIoUring
  void aLoopEndsWhileAFileIsToBeTriedAgainAndTheKernelReadsIt() throws Exception {
    Arena arena = Arena.ofAuto();
    var tapped = new Tapped(Backend.IO_URING);
    EventLoop loop = tapped.loop;
    // A pipe without data, read as a file, keeps the kernel waiting forever. It cannot seek, but
    // the loop is told that it can.
    tapped.tap.script("pread", (_, _) -> OptionalLong.of(0));
    Pipe pipe = Pipe.open(Sys.forAnyThread(), true);
    var file = new RegularFile(loop, pipe.reader());
    tapped.requests.fail("readv", Errno.EAGAIN);
    var placed = start(file.readAt(arena.allocate(8), 0));
    var tried = start(file.readSome(List.of(arena.allocate(8))));
    drive(loop, () -> file.reads.isPaused() && tapped.requests.requests("read") > 0);
    LoopSupport.join(Thread.ofPlatform().daemon().start(loop::close));
    assertThat(placed.outcome()).isEqualTo(Outcome.STOPPED);
    assertThat(tried.outcome()).isEqualTo(Outcome.STOPPED);
    file.close();
    pipe.writer().close();
  }

  // Regression: the loop checked in a busy loop whether the kernel had written the data.
  // r[verify loop.fd.unwritten]
  @Test
  @NeedsIoUring
  void aLoopThatEndsSleepsUntilTheKernelHasWrittenToAFile() throws Exception {
    SysTap tap = LoopSupport.tap();
    // A full pipe, written as a file, keeps the kernel waiting.
    tap.script("pread", (_, _) -> OptionalLong.of(0));
    Pipe pipe = Pipe.open(Sys.forAnyThread(), true);
    var sleeps = new CountDownLatch(1);
    try (Arena arena = Arena.ofShared();
        var driven = Driven.of(LoopSupport.open(Backend.IO_URING, tap))) {
      var file = new RegularFile(driven.loop(), pipe.writer());
      var write = start(file.writeAll(arena.allocate(1 << 20)));
      driven.asleep();
      tap.script(
          "ioUringEnter",
          (_, arguments) -> {
            if (WaitLog.blocks(Backend.IO_URING, arguments)) {
              sleeps.countDown();
            }
            return OptionalLong.empty();
          });
      driven.loop().requestStop();
      LoopSupport.await(sleeps);
      for (long left = 1 << 20; left > 0; ) {
        left -= Io.read(Sys.forAnyThread(), pipe.reader().number(), arena.allocate(1 << 20));
      }
      assertThat(driven.joined()).isEqualTo(Outcome.VALUE);
      assertThat(write.outcome()).isEqualTo(Outcome.VALUE);
      file.close();
    }
    pipe.reader().close();
  }

  // Regression: the loop of the waiter had ended and could not resume it, so it hung forever. The
  // rejection was taken for a failure of the operation, which then completed a second time.
  // r[verify loop.backend.single-shot] r[verify loop.stop.coroutine]
  @EveryBackend
  void anOperationWhoseWaiterHasLostItsLoopCompletesOnceAndWakesIt(Backend backend)
      throws Exception {
    SysTap tap = LoopSupport.tap();
    try (Quiet _ = Quiet.log(EventLoop.class);
        EventLoop other = EventLoop.open(backend);
        Arena arena = Arena.ofShared()) {
      var pair = StreamSocket.pair(other, other);
      send(pair.second(), "x");
      TransferOperation read = pair.first().readSome(arena.allocate(8));
      Coroutine<Integer> waiter;
      try (EventLoop loop = LoopSupport.open(backend, tap)) {
        waiter = loop.spawn("waiter", () -> read.await());
        loop.runUntilEmpty(); // the start is on its way to the other loop
        tap.fail(WaitLog.call(backend), Errno.EBADF);
        assertThatExceptionOfType(ErrnoException.class).isThrownBy(loop::run);
      }
      other.runUntilEmpty();
      assertThat(other.inFlight()).isZero();
      LoopSupport.await(waiter.result()::isDone);
      assertThat(read.outcome()).isNotEqualTo(Outcome.ERROR);
      pair.first().close();
      pair.second().close();
    }
  }
}
