package dev.belfry.loop;

import static dev.belfry.linux.Errno.EACCES;
import static dev.belfry.linux.Errno.EINVAL;
import static dev.belfry.linux.Errno.EMFILE;
import static dev.belfry.linux.Errno.ENOSYS;
import static dev.belfry.linux.Errno.EOPNOTSUPP;
import static dev.belfry.linux.Errno.EPERM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.linux.ErrnoException;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LoopContextTest {

  // r[verify loop.ctx.owns]
  @EveryBackend
  void closingReleasesEveryDescriptor(Backend backend) throws IOException {
    Descriptors before = Descriptors.now();
    try (EventLoop loop = EventLoop.open(backend)) {
      var opened = new TreeMap<>(Descriptors.now().targets());
      opened.keySet().removeAll(before.targets().keySet());
      var kinds = opened.values().stream().filter(kind -> kind.startsWith("anon_inode")).toList();
      assertThat(kinds)
          .containsExactlyInAnyOrderElementsOf(
              switch (backend) {
                case EPOLL -> List.of("anon_inode:[eventpoll]", "anon_inode:[eventfd]");
                case EPOLL_TIMERFD ->
                    List.of(
                        "anon_inode:[eventpoll]", "anon_inode:[eventfd]", "anon_inode:[timerfd]");
                case IO_URING -> List.of("anon_inode:[io_uring]", "anon_inode:[eventfd]");
              });
      assertThat(loop.runSome()).isZero();
    }
    assertThat(before.openedSince()).isEmpty();
  }

  // r[verify loop.ctx.owns]
  @EveryBackend
  void aConstructionWithoutASecondDescriptorLeavesNone(Backend backend) {
    Descriptors before = Descriptors.now();
    SysTap tap = LoopSupport.tap();
    tap.fail("eventfd", EMFILE);
    assertThatExceptionOfType(ErrnoException.class)
        .isThrownBy(() -> LoopSupport.open(backend, tap))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(EMFILE));
    assertThat(before.openedSince()).isEmpty();
  }

  // r[verify loop.ctx.error-free-close]
  @EveryBackend
  void aConstructionThatFailsAnywhereLeavesNothingAndSaysWhy(Backend backend) {
    record Call(String name, int nth) {}
    var calls = new ArrayList<Call>();
    calls.add(new Call("eventfd", 1));
    if (backend == Backend.IO_URING) {
      calls.add(new Call("mmap", 1));
      calls.add(new Call("mmap", 2));
    } else {
      calls.add(new Call("epollCreate1", 1));
      calls.add(new Call("epollCtl", 1));
    }
    switch (backend) {
      case EPOLL -> calls.add(new Call("epollPwait2", 1));
      case EPOLL_TIMERFD -> {
        calls.add(new Call("timerfdCreate", 1));
        calls.add(new Call("epollCtl", 2));
      }
      case IO_URING -> {} // refused in another way
    }
    Descriptors before = Descriptors.now();
    for (Call call : calls) {
      SysTap tap = LoopSupport.tap();
      tap.failAt(call.name(), call.nth(), EINVAL);
      assertThatExceptionOfType(ErrnoException.class)
          .as("%s", call)
          .isThrownBy(() -> LoopSupport.open(backend, tap))
          .satisfies(e -> assertThat(e.errno()).isEqualTo(EINVAL));
      assertThat(before.openedSince()).as("%s", call).isEmpty();
    }
  }

  // r[verify loop.wait.assume]
  @ParameterizedTest
  @ValueSource(ints = {ENOSYS, EPERM, EACCES, EOPNOTSUPP})
  void aRefusedWaitFallsBackToATimerDescriptor(int errno) throws IOException {
    SysTap tap = LoopSupport.tap();
    tap.fail("epollPwait2", errno);
    try (EventLoop loop = EventLoop.open(LoopOptions.DEFAULT.withSystemCalls(tap.sys()))) {
      assertThat(loop.backend()).isEqualTo(Backend.EPOLL_TIMERFD);
      TimerOperation timer = loop.scheduler().after(Duration.ofMillis(2));
      timer.start(_ -> loop.requestStop());
      loop.run();
      assertThat(timer.hasValue()).isTrue();
    }
    assertThat(tap.calls("epollPwait2")).isEqualTo(1);
  }

  // r[verify loop.wait.assume]
  @Test
  void anyOtherErrorOfTheProbeFailsTheConstruction() {
    SysTap tap = LoopSupport.tap();
    tap.fail("epollPwait2", EINVAL);
    assertThatExceptionOfType(ErrnoException.class)
        .isThrownBy(() -> EventLoop.open(LoopOptions.DEFAULT.withSystemCalls(tap.sys())))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(EINVAL));
  }

  // r[verify loop.wait.assume]
  @Test
  void aBackendThatWasAskedForIsNotReplaced() {
    SysTap tap = LoopSupport.tap();
    tap.fail("epollPwait2", ENOSYS);
    assertThatExceptionOfType(ErrnoException.class)
        .isThrownBy(() -> LoopSupport.open(Backend.EPOLL, tap))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(ENOSYS));
  }

  // r[verify loop.ctx.api]
  @EveryBackend
  void theDrivingCallsReturnHowMuchTheyHandled(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        Arena arena = Arena.ofConfined()) {
      Scheduler scheduler = loop.scheduler();
      scheduler.execute(() -> {});
      scheduler.schedule().start(_ -> {});
      scheduler.execute(() -> {});
      assertThat(loop.runSome()).isEqualTo(3);

      scheduler.execute(() -> {});
      assertThat(loop.runOne()).isEqualTo(1);

      var pipe = Descriptor.pipe(loop);
      pipe.reader().readSome(arena.allocate(8)).start(_ -> {});
      pipe.writer().writeSome(arena.allocateFrom("x")).start(_ -> {});
      scheduler.after(Duration.ZERO).start(_ -> {});
      scheduler.execute(() -> {});
      assertThat(loop.runUntilEmpty()).isEqualTo(4);
      assertThat(loop.inFlight()).isZero();
      pipe.reader().close();
      pipe.writer().close();
      loop.runUntilEmpty();

      scheduler.after(Duration.ofMillis(1)).start(_ -> {});
      assertThat(loop.runSome(Duration.ofSeconds(20))).isEqualTo(1);
      scheduler.after(Duration.ofMillis(1)).start(_ -> {});
      assertThat(loop.runOne()).isEqualTo(1);
      assertThat(loop.isStopRequested()).isFalse();
      loop.requestStop();
      assertThat(loop.isStopRequested()).isTrue();
      loop.run();
    }
  }

  @EveryBackend
  void aLoopSaysWhatItRunsOn(Backend backend) throws IOException {
    assertThat(backend.unavailabilityCause()).isEmpty();
    assertThat(backend.isAvailable()).isTrue();
    try (EventLoop loop = EventLoop.open(backend)) {
      assertThat(loop.backend()).isEqualTo(backend);
      assertThat(loop.toString()).contains(backend.label());
    }
  }

  // Regression: cancels, closes and postponed work counted too, though nothing had completed.
  // r[verify loop.ctx.api]
  @EveryBackend
  void theLoopsOwnErrandsAreNotCounted(Backend backend) throws IOException {
    LoopOptions oneInATurn = LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(1 << 20, 1);
    try (EventLoop loop = EventLoop.open(oneInATurn);
        Arena arena = Arena.ofShared()) {
      TimerOperation timer = loop.scheduler().after(Duration.ofHours(1));
      timer.start(_ -> {});
      timer.cancel();
      assertThat(loop.runUntilEmpty()).isEqualTo(1);

      timer.after(Duration.ofHours(1)).start(_ -> {});
      assertThat(loop.runUntilEmpty()).isZero();
      loop.scheduler().execute(timer::cancel);
      timer.cancel(); // too late
      assertThat(loop.runUntilEmpty()).isEqualTo(2);

      var pair = StreamSocket.pair(loop, loop);
      DescriptorSupport.send(pair.second(), "xxx");
      for (int i = 0; i < 3; i++) {
        pair.first().readSome(arena.allocate(1)).start(_ -> {}); // one in each turn
      }
      assertThat(loop.runUntilEmpty()).isEqualTo(3);
      pair.first().close();
      pair.second().close();
      assertThat(loop.runUntilEmpty()).isZero();
      assertThat(pair.first().isClosed()).isTrue();
    }
  }
}
