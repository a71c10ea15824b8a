package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.errno;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Message;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.List;

/**
 * Who learns of a connection reset. Regression: the kernel reports it to one call only. If that was
 * a write, a read took the reset for the end of the stream; if it was a read, writes were told of a
 * broken pipe.
 */
final class ResetTest {
  private final Arena arena = Arena.ofAuto();

  private static void reset(EventLoop loop, StreamSocket peer) throws IOException {
    Sockets.resetOnClose(Sys.forAnyThread(), peer.descriptor());
    peer.close();
    drive(loop, peer::isClosed);
  }

  private void allAreTold(EventLoop loop, StreamSocket socket) throws IOException {
    var message = new Message(arena, 1, 0);
    message.data().add(arena.allocate(8));
    for (int i = 0; i < 2; i++) {
      for (Operation<?> operation :
          List.of(
              socket.readSome(arena.allocate(8)),
              socket.readAll(arena.allocate(8192)),
              socket.receive(message),
              socket.writeSome(arena.allocate(8)),
              socket.writeSome(List.of(arena.allocate(8))),
              socket.send(message))) {
        assertThat(errno(loop, operation)).as("%s", operation).isEqualTo(Errno.ECONNRESET);
      }
    }
  }

  // r[verify loop.op.error] r[verify loop.backend.surface]
  @EveryBackend
  void readsAreToldAfterAWriteWas(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = tcp(loop);
      reset(loop, pair.second());
      assertThat(errno(loop, pair.first().writeSome(arena.allocate(8))))
          .isEqualTo(Errno.ECONNRESET);
      allAreTold(loop, pair.first());
      pair.first().close();
    }
  }

  // r[verify loop.op.error]
  @EveryBackend
  void readsAreToldWhereOneHasReadBefore(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = tcp(loop);
      send(pair.second(), "x");
      assertThat(result(loop, pair.first().readSome(arena.allocate(8)))).isEqualTo(1);
      reset(loop, pair.second());
      assertThat(
              errno(loop, pair.first().writeSome(arena.allocate(8)))) // on io_uring after the loop
          .isEqualTo(Errno.ECONNRESET);
      allAreTold(loop, pair.first());
      pair.first().close();
    }
  }

  // r[verify loop.op.error]
  @EveryBackend
  void aReadThatWaitsBesideAWriteIsTold(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (int size : List.of(8, 65536)) {
        var pair = tcp(loop);
        var writing = start(pair.first().writeAll(arena.allocate(32 << 20)));
        var reading = start(pair.first().readSome(arena.allocate(size)));
        loop.runUntilEmpty();
        reset(loop, pair.second());
        drive(loop, () -> writing.done() && reading.done());
        assertThat(writing.errno()).isEqualTo(Errno.ECONNRESET);
        assertThat(reading.errno()).isEqualTo(Errno.ECONNRESET);
        allAreTold(loop, pair.first());
        pair.first().close();
      }
    }
  }

  // Data that came before the reset is read first.
  // r[verify loop.op.error]
  @EveryBackend
  void whatCameBeforeIsReadFirst(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = tcp(loop);
      send(pair.second(), "data");
      reset(loop, pair.second());
      assertThat(errno(loop, pair.first().writeSome(arena.allocate(8))))
          .isEqualTo(Errno.ECONNRESET);
      assertThat(DescriptorSupport.read(loop, pair.first())).isEqualTo("data");
      allAreTold(loop, pair.first());
      pair.first().close();
    }
  }

  // r[verify loop.op.error] r[verify loop.connect]
  @EveryBackend
  void aConnectThatFailedIsForgottenWhenTheNextSucceeds(Backend backend) throws IOException {
    try (var tapped = new DescriptorSupport.Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var client = StreamSocket.open(loop, StandardProtocolFamily.INET);
      Acceptor acceptor =
          Acceptor.open(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      tapped.failFirst("connect", 1, Errno.ECONNRESET);
      assertThat(errno(loop, client.connect(acceptor.localAddress()))).isEqualTo(Errno.ECONNRESET);
      result(loop, client.connect(acceptor.localAddress()));
      result(loop, acceptor.accept()).close();
      assertThat(DescriptorSupport.read(loop, client)).isEqualTo("<end>");
      client.close();
      acceptor.close();
    }
  }
}
