package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.bytes;
import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.onLoop;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Message;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.LoopSupport.EveryEpoll;
import dev.belfry.loop.WaitQueue.Readiness;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** When a call is attempted, and what is known about a descriptor in between. */
final class ReadinessTest {
  private final Arena arena = Arena.ofAuto();

  // r[verify loop.op.eager]
  @EveryBackend
  void anOperationTriesItsCallFirstAndCompletesAfterItsStart(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      send(pair.first(), "here");
      long controls = tapped.tap.calls("epollCtl");
      long waits = tapped.tap.calls(tapped.waitCall());
      Probe<Integer> elsewhere = start(pair.second().readSome(arena.allocate(4)));
      assertThat(elsewhere.done()).isFalse();
      assertThat(tapped.calls("recv")).isZero();
      assertThat(loop.runSome()).isPositive();
      assertThat(elsewhere.done()).isTrue();
      assertThat(tapped.calls("recv")).isEqualTo(1);
      assertThat(tapped.tap.calls("epollCtl")).isEqualTo(controls);
      assertThat(tapped.tap.calls(tapped.waitCall())).isLessThanOrEqualTo(waits + 1);

      send(pair.first(), "here");
      var probes = new ArrayList<Probe<Integer>>();
      onLoop(
          loop,
          () -> {
            probes.add(start(pair.second().readSome(arena.allocate(4))));
            // A request is submitted only when the loop is about to wait.
            assertThat(tapped.calls("recv")).isEqualTo(tapped.isEpoll() ? 2 : 1);
            assertThat(probes.getFirst().done()).isFalse();
          });
      assertThat(probes.getFirst().done()).isTrue();
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.epoll.interest]
  @EveryEpoll
  void whatIsKnownOfAStreamSocketFollowsItsCallsAndEvents(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = tcp(loop);
      StreamSocket ours = pair.second();
      assertThat(ours.reads.readiness).isEqualTo(Readiness.UNKNOWN);
      assertThat(ours.slot).isEqualTo(Handle.NOT_REGISTERED);
      send(pair.first(), "12345678");
      assertThat(result(loop, ours.readSome(arena.allocate(8)))).isEqualTo(8);
      assertThat(ours.reads.readiness).isEqualTo(Readiness.READY);
      assertThat(ours.slot).isEqualTo(Handle.NOT_REGISTERED);

      var probe = start(ours.readSome(arena.allocate(4)));
      loop.runUntilEmpty();
      assertThat(probe.done()).isFalse();
      assertThat(ours.reads.readiness).isEqualTo(Readiness.BLOCKED);
      assertThat(ours.writes.readiness).isEqualTo(Readiness.READY); // reported upon registration
      assertThat(ours.slot).isNotEqualTo(Handle.NOT_REGISTERED);

      send(pair.first(), "12345678");
      drive(loop, probe::done);
      assertThat(ours.reads.readiness).isEqualTo(Readiness.READY); // a full buffer: maybe more
      assertThat(result(loop, ours.readSome(arena.allocate(64)))).isEqualTo(4);
      assertThat(ours.reads.readiness).isEqualTo(Readiness.BLOCKED); // a short read: no more

      send(pair.first(), "x");
      pair.first().shutdownWrite();
      drive(loop, () -> ours.moreAfterShortRead);
      assertThat(ours.reads.readiness).isEqualTo(Readiness.READY);
      assertThat(result(loop, ours.readSome(arena.allocate(64)))).isEqualTo(1);
      assertThat(ours.reads.readiness).isEqualTo(Readiness.READY); // the end is still to come
      assertThat(read(loop, ours)).isEqualTo("<end>");
      pair.first().close();
      ours.close();
    }
  }

  // r[verify loop.epoll.interest]
  @EveryEpoll
  void aShortReadOfAPipeOrADatagramSaysNothing(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pipe = Descriptor.pipe(loop);
      var parked = start(pipe.reader().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      send(pipe.writer(), "abc");
      drive(loop, parked::done);
      assertThat(parked.value()).isEqualTo(3);
      assertThat(pipe.reader().reads.readiness).isEqualTo(Readiness.READY);
      pipe.reader().close();
      pipe.writer().close();

      var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      var first = DatagramSocket.open(loop, StandardProtocolFamily.INET);
      var second = DatagramSocket.open(loop, StandardProtocolFamily.INET);
      first.bind(loopback);
      second.connect(first.localAddress());
      parked = start(first.readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      send(second, "one");
      send(second, "two");
      drive(loop, parked::done);
      assertThat(first.reads.readiness).isEqualTo(Readiness.READY);
      assertThat(read(loop, first)).isEqualTo("two");
      first.close();
      second.close();
    }
  }

  // Regression: a read from a Unix socket ends where descriptors were attached, so it can be short
  // while more data follows. It was taken for the end of the data, and the rest was stuck.
  // r[verify loop.epoll.interest] r[verify loop.op.no-lost-edge]
  @EveryBackend
  void aReadThatPassedDescriptorsCutShortDoesNotHideWhatFollows(Backend backend)
      throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      var parked = start(pair.second().readSome(arena.allocate(64)));
      loop.runUntilEmpty();
      var message = new Message(arena, 1, 1);
      message.data().add(bytes(arena, "with"));
      message.addDescriptor(0);
      assertThat(message.send(Sys.forAnyThread(), pair.first().descriptor())).isEqualTo(4);
      send(pair.first(), "without");
      drive(loop, parked::done);
      assertThat(parked.value()).isEqualTo(4);
      assertThat(read(loop, pair.second())).isEqualTo("without");
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.op.edge]
  @EveryBackend
  void oneEventServesAllThatWait(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      Sockets.Pair fds = Sockets.pair(tapped.tap.sys(), Sockets.Type.SEQUENCED_PACKETS, false);
      Descriptor ours = Descriptor.adopt(loop, fds.first());
      Descriptor theirs = Descriptor.adopt(loop, fds.second());
      var probes = new ArrayList<Probe<Integer>>();
      for (int i = 0; i < 10; i++) {
        probes.add(start(ours.readSome(arena.allocate(16))));
      }
      loop.runUntilEmpty();
      long controls = tapped.tap.calls("epollCtl");
      long events = loop.metrics().events();
      for (int i = 1; i <= 10; i++) {
        send(theirs, "m".repeat(i));
      }
      loop.runSome();
      if (tapped.isEpoll()) {
        assertThat(loop.metrics().events()).isEqualTo(events + 1);
        assertThat(tapped.tap.calls("epollCtl")).isEqualTo(controls);
      } else {
        assertThat(tapped.calls("poll")).isEqualTo(2); // for the wake-up, and for all reads
      }
      for (int i = 1; i <= 10; i++) {
        assertThat(probes.get(i - 1).value()).isEqualTo(i);
      }
      ours.close();
      theirs.close();
    }
  }

  // r[verify loop.op.edge]
  @EveryBackend
  void aHalfClosedPeerCanStillBeWrittenTo(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      for (var pair : List.of(tcp(loop), StreamSocket.pair(loop, loop))) {
        var parked = start(pair.first().readSome(arena.allocate(8)));
        loop.runUntilEmpty();
        pair.second().shutdownWrite();
        drive(loop, parked::done);
        assertThat(parked.value()).isEqualTo(TransferOperation.END_OF_FILE);
        DescriptorSupport.write(loop, pair.first(), "still");
        assertThat(read(loop, pair.second())).isEqualTo("still");
        pair.first().close();
        pair.second().close();
      }
    }
  }

  // r[verify loop.backend.single-shot]
  @EveryBackend
  void oneReadTakesOneMessage(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      Sockets.Pair fds = Sockets.pair(tapped.tap.sys(), Sockets.Type.SEQUENCED_PACKETS, false);
      Descriptor ours = Descriptor.adopt(loop, fds.first());
      Descriptor theirs = Descriptor.adopt(loop, fds.second());
      var one = start(ours.readSome(arena.allocate(16)));
      loop.runUntilEmpty();
      send(theirs, "first");
      send(theirs, "second!");
      loop.runUntilEmpty();
      assertThat(one.count()).isEqualTo(1);
      assertThat(one.value()).isEqualTo(5);
      var two = start(ours.readSome(arena.allocate(16)));
      loop.runUntilEmpty();
      assertThat(two.value()).isEqualTo(7);
      assertThat(one.count()).isEqualTo(1);
      ours.close();
      theirs.close();
    }
  }

  // r[verify loop.fd.queues]
  @EveryBackend
  void eachDirectionIsServedInOrderAndWithoutTheOther(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      Sockets.Pair fds = Sockets.pair(tapped.tap.sys(), Sockets.Type.SEQUENCED_PACKETS, false);
      Descriptor ours = Descriptor.adopt(loop, fds.first());
      Descriptor theirs = Descriptor.adopt(loop, fds.second());
      var order = new ArrayList<String>();
      var all = new CompletableFuture<Void>();
      for (int i = 0; i < 3; i++) {
        MemorySegment buffer = arena.allocate(16);
        int number = i;
        ours.readSome(buffer)
            .start(
                read -> {
                  order.add(number + DescriptorSupport.text(buffer, 1));
                  if (order.size() == 3) {
                    all.complete(TimerOperation.nothing());
                  }
                });
      }
      // The write direction is full: its operation waits, without affecting reads.
      var writes = new ArrayList<Probe<Integer>>();
      MemorySegment large = arena.allocate(30_000);
      do {
        writes.add(start(ours.writeSome(large)));
        loop.runUntilEmpty();
      } while (writes.getLast().done());
      send(theirs, "a");
      send(theirs, "b");
      send(theirs, "c");
      drive(loop, all::isDone);
      assertThat(order).containsExactly("0a", "1b", "2c");
      assertThat(writes.getLast().done()).isFalse();

      // And vice versa: a read waits while writes go on.
      var read = start(ours.readSome(arena.allocate(16)));
      for (int i = 0; i < writes.size(); i++) {
        assertThat(result(loop, theirs.readSome(arena.allocate(30_000)))).isEqualTo(30_000);
      }
      drive(loop, writes.getLast()::done);
      assertThat(read.done()).isFalse();
      ours.close();
      theirs.close();
    }
  }
}
