package dev.belfry.loop;

import static dev.belfry.linux.Errno.EBADF;
import static dev.belfry.linux.Errno.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.OpenFlags;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.SysTap;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What happens to a loop and its operations when the wait itself fails. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class FailedWaitTest {
  @TempDir Path directory;

  // r[verify loop.run.sender] r[verify loop.err.unexpected]
  @EveryBackend
  void aFailedWaitEndsTheRunWithItsErrno(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      TimerOperation timer = loop.scheduler().after(Duration.ofMinutes(1));
      timer.start(_ -> {});
      loop.runSome();
      tap.failAt(WaitLog.call(backend), 1, EBADF);
      assertThatExceptionOfType(ErrnoException.class)
          .isThrownBy(loop::run)
          .satisfies(e -> assertThat(e.errno()).isEqualTo(EBADF))
          .withMessageContaining(
              switch (backend) {
                case EPOLL -> "epoll_pwait2";
                case EPOLL_TIMERFD -> "epoll_wait";
                case IO_URING -> "io_uring_enter";
              });
      assertThat(loop.inFlight()).isEqualTo(1);
      loop.requestStop();
      loop.run();
      assertThat(timer.outcome()).isEqualTo(Outcome.STOPPED);
    }
  }

  // Regression: it was reported as a failed wait.
  // r[verify loop.err.unexpected]
  @Test
  void aTimerThatCannotBeSetEndsTheRunWithTheNameOfItsCall() throws Exception {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(Backend.EPOLL_TIMERFD, tap)) {
      loop.scheduler().after(Duration.ofMinutes(1)).start(_ -> {});
      tap.failAt("timerfdSettime", 1, EINVAL);
      assertThatExceptionOfType(ErrnoException.class)
          .isThrownBy(loop::run)
          .satisfies(e -> assertThat(e.errno()).isEqualTo(EINVAL))
          .withMessageContaining("timerfd_settime");
    }
  }

  // r[verify loop.err.unexpected]
  @EveryBackend
  void closingALoopWhoseWaitFailsCompletesWhatIsLeft(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    var outcomes = new ArrayList<Outcome>();
    try (Quiet _ = Quiet.log(EventLoop.class);
        EventLoop loop = LoopSupport.open(backend, tap)) {
      loop.scheduler().after(Duration.ofMinutes(1)).start(op -> outcomes.add(op.outcome()));
      loop.runSome();
      loop.scheduler()
          .execute(
              () ->
                  loop.scheduler()
                      .schedule()
                      .start(
                          op -> {
                            outcomes.add(op.outcome());
                          }));
      tap.fail(WaitLog.call(backend), EBADF);
      assertThatExceptionOfType(ErrnoException.class).isThrownBy(loop::run);
      assertThatExceptionOfType(ErrnoException.class).isThrownBy(loop::runSome);
    }
    assertThat(outcomes).containsExactlyInAnyOrder(Outcome.STOPPED, Outcome.VALUE);
  }

  // r[verify loop.fd.unwritten] r[verify loop.err.unexpected]
  @EveryBackend
  void writesToFilesCompleteOnceWhereTheWaitFails(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    var outcomes = new ArrayList<Outcome>();
    try (Quiet _ = Quiet.log(EventLoop.class);
        Arena arena = Arena.ofShared()) {
      EventLoop loop = LoopSupport.open(backend, tap);
      int flags = OpenFlags.WRITE_ONLY | OpenFlags.CREATE;
      var files = new ArrayList<RegularFile>();
      for (String name : List.of("closed", "open")) {
        Path path = directory.resolve(name);
        files.add(DescriptorSupport.result(loop, RegularFile.open(loop, path, flags, 0600)));
      }
      loop.scheduler()
          .execute(
              () -> {
                for (RegularFile file : files) {
                  for (int i = 0; i < 10; i++) {
                    file.writeAll(arena.allocate(8)).start(op -> outcomes.add(op.outcome()));
                    file.writeAt(arena.allocate(8), i).start(op -> outcomes.add(op.outcome()));
                  }
                }
                files.getFirst().close();
                tap.fail(WaitLog.call(backend), EBADF);
              });
      assertThatExceptionOfType(ErrnoException.class)
          .isThrownBy(() -> DescriptorSupport.drive(loop, () -> false));
      loop.close();
      assertThat(outcomes).hasSize(40);
      assertThat(loop.inFlight()).isZero();
      files.getLast().close();
    }
  }

  // Regression: requests came back from the kernel after the loop's work was over, and were not
  // completed.
  // r[verify loop.err.unexpected] r[verify loop.stop.nonew]
  @EveryBackend
  void closingALoopWhoseWaitFailsCompletesWhatTheKernelHas(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    var outcomes = new ArrayList<Outcome>();
    try (Quiet _ = Quiet.log(EventLoop.class);
        Arena arena = Arena.ofShared()) {
      EventLoop loop = LoopSupport.open(backend, tap);
      var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      Acceptor first = Acceptor.open(loop, address);
      Acceptor second = Acceptor.open(loop, address);
      first
          .accept()
          .start(
              op -> {
                outcomes.add(op.outcome());
                first.close(); // just as on a loop that ends regularly
              });
      var accepted = second.accept().toFuture();
      var pipe = Descriptor.pipe(loop);
      var read = pipe.reader().readSome(arena.allocate(8)).toFuture();
      var word = loop.futex(arena.allocate(ValueLayout.JAVA_INT), 0).toFuture();
      var coroutine =
          loop.spawn(
              "waiter",
              () -> {
                try (second) {
                  second.accept().await().close();
                  return "accepted";
                } catch (StoppedException e) {
                  return "cleaned up";
                }
              });
      for (int i = 0; i < 3; i++) {
        loop.runSome();
      }
      tap.fail(WaitLog.call(backend), EBADF);
      assertThatExceptionOfType(ErrnoException.class).isThrownBy(loop::runSome);
      loop.close();
      assertThat(outcomes).containsExactly(Outcome.STOPPED);
      assertThat(accepted).isCancelled();
      assertThat(read).isCancelled();
      assertThat(word).isCancelled();
      assertThat(coroutine.result()).isCompletedWithValue("cleaned up");
      assertThat(loop.inFlight()).isZero();
      pipe.reader().close();
      pipe.writer().close();
    }
  }
}
