package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.onLoop;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.LoopSupport.EveryEpoll;
import dev.belfry.loop.WaitQueue.Readiness;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;

/** When a descriptor is registered with epoll, and when not. */
final class RegistrationTest {
  private static final int INTEREST = Epoll.IN | Epoll.OUT | Epoll.RDHUP | Epoll.ET;

  private final Arena arena = Arena.ofAuto();

  // r[verify loop.epoll.et] r[verify loop.epoll.lazy] r[verify loop.op.park]
  @EveryEpoll
  void whatHasToWaitIsRegisteredOnceForBothDirectionsAndEdges(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      try (StreamSocket first = pair.first();
          StreamSocket second = pair.second()) {
        assertThat(tapped.watched()).doesNotContainKey(first.descriptor());
        var probe = start(first.readSome(arena.allocate(8)));
        loop.runUntilEmpty();
        assertThat(probe.done()).isFalse();
        // The kernel adds ERR and HUP, which are always reported.
        assertThat(tapped.watched(first.descriptor()).events() & INTEREST).isEqualTo(INTEREST);
        assertThat(tapped.watched().values())
            .allSatisfy(watched -> assertThat(watched.events() & Epoll.ET).isNotZero());
        assertThat(tapped.watched()).doesNotContainKey(second.descriptor());
        send(second, "x");
        drive(loop, probe::done);
        assertThat(probe.value()).isEqualTo(1);
      }
      loop.runUntilEmpty();
    }
  }

  // r[verify loop.epoll.lazy]
  @EveryEpoll
  void steadyStateMakesNoControlCall(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = tcp(loop);
      int rounds = 10_000;
      MemorySegment here = arena.allocate(64);
      MemorySegment there = arena.allocate(64);
      TransferOperation ask = pair.first().writeSome(here);
      TransferOperation hear = pair.first().readSome(here);
      TransferOperation take = pair.second().readSome(there);
      TransferOperation answer = pair.second().writeSome(there);
      var after = new long[1];
      var left = new int[] {rounds};
      take.start(
          new Completion<>() {
            @Override
            public void completed(Operation<? extends Integer> read) {
              if (read.hasValue()) {
                answer.start(_ -> take.start(this));
              }
            }
          });
      var turn =
          new Completion<Integer>() {
            @Override
            public void completed(Operation<? extends Integer> read) {
              if (left[0]-- == rounds) {
                after[0] = tapped.tap.calls("epollCtl");
              }
              if (left[0] >= 0) {
                ask.start(_ -> hear.start(this));
              }
            }
          };
      ask.start(_ -> hear.start(turn));
      drive(loop, () -> left[0] < 0);
      assertThat(tapped.tap.calls("epollCtl")).isEqualTo(after[0]);
      assertThat(tapped.watched()).containsKey(pair.first().descriptor());
      pair.first().close();
      pair.second().close();
    }
  }

  // Regression: a short read marked an unregistered descriptor as blocked, so the next read was
  // registered although its data was there.
  // r[verify loop.epoll.lazy] r[verify loop.op.eager]
  @EveryEpoll
  void readsThatNeverWaitMakeNoControlCall(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = tcp(loop);
      long before = tapped.tap.calls("epollCtl");
      for (int i = 0; i < 100; i++) {
        send(pair.first(), "short");
        assertThat(read(loop, pair.second())).isEqualTo("short");
      }
      assertThat(tapped.tap.calls("epollCtl")).isEqualTo(before);
      assertThat(tapped.watched()).doesNotContainKey(pair.second().descriptor());
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.op.park]
  @EveryEpoll
  void aRegistrationThatFailsEndsTheOperationWithItsErrno(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      tapped.tap.fail("epollCtl", Errno.ENOSPC);
      TransferOperation read = pair.first().readSome(arena.allocate(8));
      assertThat(DescriptorSupport.errno(loop, read)).isEqualTo(Errno.ENOSPC);
      assertThat(read.error())
          .isInstanceOfSatisfying(
              ErrnoException.class, e -> assertThat(e.call()).isEqualTo("epoll_ctl"));
      tapped.tap.pass("epollCtl");
      var again = start(read);
      loop.runUntilEmpty();
      assertThat(again.done()).isFalse();
      send(pair.second(), "now");
      drive(loop, again::done);
      assertThat(again.value()).isEqualTo(3);
      pair.first().close();
      pair.second().close();
    }
  }

  // Regression: an operation started after the share of the turn was used up waited for the next
  // turn without being registered. If that turn found nothing, it waited forever.
  // r[verify loop.op.park] r[verify loop.op.fair]
  @EveryBackend
  void whatWasPutOffToTheNextTurnAndThenHasToWaitIsRegistered(Backend backend) throws IOException {
    try (var tapped =
        new Tapped(LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(1 << 20, 2))) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      send(pair.second(), "ab");
      var probes = new ArrayList<Probe<Integer>>();
      onLoop(
          loop,
          () -> {
            for (int i = 0; i < 4; i++) {
              probes.add(start(pair.first().readSome(arena.allocate(1))));
            }
          });
      loop.runUntilEmpty();
      assertThat(probes.get(1).done()).isTrue();
      assertThat(probes.get(2).done()).isFalse();
      if (tapped.isEpoll()) {
        assertThat(tapped.watched()).containsKey(pair.first().descriptor());
      }
      send(pair.second(), "cd");
      drive(loop, () -> probes.get(3).done());
      pair.first().close();
      pair.second().close();
    }
  }

  // The same after a short read, which shows that the next call would have to wait.
  // r[verify loop.op.park]
  @EveryBackend
  void whatWasPutOffAfterAShortReadIsRegistered(Backend backend) throws IOException {
    try (var tapped =
        new Tapped(LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(1 << 20, 1))) {
      EventLoop loop = tapped.loop;
      var pair = tcp(loop);
      send(pair.second(), "ab");
      var probes = new ArrayList<Probe<Integer>>();
      onLoop(
          loop,
          () -> {
            probes.add(start(pair.first().readSome(arena.allocate(8))));
            probes.add(start(pair.first().readSome(arena.allocate(8))));
          });
      loop.runUntilEmpty();
      send(pair.second(), "cd");
      drive(loop, () -> probes.get(1).done());
      assertThat(probes.get(1).value()).isEqualTo(2);
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.cancel.unlink]
  @EveryBackend
  void aCancelledOperationLeavesItsQueueAndTheRegistrationStays(Backend backend)
      throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      var first = start(pair.first().readSome(arena.allocate(8)));
      var second = start(pair.first().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      long controls = tapped.tap.calls("epollCtl");
      first.operation.cancel();
      drive(loop, first::done);
      assertThat(first.outcome()).isEqualTo(Outcome.STOPPED);
      send(pair.second(), "x");
      drive(loop, second::done);
      assertThat(second.value()).isEqualTo(1);

      var third = start(pair.first().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      third.operation.cancel();
      drive(loop, third::done);
      send(pair.second(), "nobody waits");
      if (tapped.isEpoll()) {
        drive(loop, () -> pair.first().reads.readiness == Readiness.READY);
      }
      assertThat(read(loop, pair.first())).isEqualTo("nobody waits");
      assertThat(tapped.tap.calls("epollCtl")).isEqualTo(controls);
      assertThat(first.count() + second.count() + third.count()).isEqualTo(3);
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.fd.close]
  @EveryBackend
  void aDuplicateKeptElsewhereBringsNoEvents(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      var parked = start(pair.first().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      try (var duplicate = FdFlags.duplicate(Sys.forAnyThread(), pair.first().descriptor())) {
        pair.first().close();
        drive(loop, parked::done);
        assertThat(parked.outcome()).isEqualTo(Outcome.STOPPED);
        long events = loop.metrics().events();
        send(pair.second(), "x");
        loop.runUntilEmpty();
        assertThat(loop.metrics().events()).isEqualTo(events);
        assertThat(duplicate.isOpen()).isTrue();
      }
      pair.second().close();
    }
  }
}
