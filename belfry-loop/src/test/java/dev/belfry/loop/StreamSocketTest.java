package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.errno;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static dev.belfry.loop.DescriptorSupport.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.DescriptorSupport.Use;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.LoopSupport.EveryEpoll;
import dev.belfry.testkit.Descriptors;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.io.TempDir;

/** TCP and Unix sockets: connecting, options, addresses, and how they end. */
final class StreamSocketTest {
  private static final InetSocketAddress LOOPBACK =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final Arena arena = Arena.ofAuto();

  @TempDir Path directory;

  private List<SocketAddress> addresses() {
    return List.of(
        LOOPBACK,
        new InetSocketAddress(InetAddress.ofLiteral("::1"), 0),
        UnixDomainSocketAddress.of(directory.resolve("listener")));
  }

  private static StreamSocket socketFor(EventLoop loop, SocketAddress address) throws IOException {
    return StreamSocket.open(loop, Sockets.familyOf(address));
  }

  /** An address at which nothing listens. */
  private static SocketAddress closedPort(EventLoop loop) throws IOException {
    Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
    SocketAddress address = acceptor.localAddress();
    acceptor.close();
    drive(loop, acceptor::isClosed);
    return address;
  }

  // r[verify loop.connect] r[verify loop.accept.once] r[verify loop.op.value]
  @EveryBackend
  void aConnectionIsMadeAndUsedInEachWay(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      for (Use use : Use.values()) {
        for (SocketAddress address : addresses()) {
          Acceptor acceptor = Acceptor.open(loop, address);
          long asked = tapped.tap.calls("getsockopt");
          StreamSocket client = socketFor(loop, address);
          assertThat(use.result(loop, client.connect(acceptor.localAddress()))).isSameAs(client);
          assertThat(tapped.tap.calls("getsockopt")).isLessThanOrEqualTo(asked + 1);
          StreamSocket server = use.result(loop, acceptor.accept());
          write(loop, client, "ping");
          assertThat(read(loop, server)).isEqualTo("ping");
          write(loop, server, "pong");
          assertThat(read(loop, client)).isEqualTo("pong");
          assertThat(client.remoteAddress()).isEqualTo(acceptor.localAddress());
          if (address instanceof InetSocketAddress) {
            assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
          }
          client.shutdownWrite();
          assertThat(read(loop, server)).isEqualTo("<end>");
          write(loop, server, "last");
          assertThat(read(loop, client)).isEqualTo("last");
          server.close();
          drive(loop, server::isClosed);
          assertThat(read(loop, client)).isEqualTo("<end>");
          client.close();
          acceptor.close();
          drive(loop, acceptor::isClosed);
        }
      }
      assertThat(directory.resolve("listener")).doesNotExist();
    }
  }

  // r[verify loop.connect]
  @EveryEpoll
  void aTcpConnectAsksOnceForItsOutcome(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      var watchedAtCall = new ArrayList<Boolean>();
      tapped.tap.script(
          "connect",
          (_, arguments) -> {
            try {
              watchedAtCall.add(tapped.watched().containsKey((Integer) arguments[0]));
            } catch (IOException e) {
              throw new AssertionError(e);
            }
            // An interrupted connect continues by itself.
            long result =
                Sys.forAnyThread()
                    .connect((int) arguments[0], (MemorySegment) arguments[1], (int) arguments[2]);
            return OptionalLong.of(result == -Errno.EINPROGRESS ? -Errno.EINTR : result);
          });
      StreamSocket client = socketFor(loop, LOOPBACK);
      long asked = tapped.tap.calls("getsockopt");
      result(loop, client.connect(acceptor.localAddress()));
      assertThat(tapped.tap.calls("connect")).isEqualTo(1);
      assertThat(tapped.tap.calls("getsockopt")).isEqualTo(asked + 1);
      assertThat(watchedAtCall).containsExactly(false);

      StreamSocket refused = socketFor(loop, LOOPBACK);
      ConnectOperation connect = refused.connect(closedPort(loop));
      asked = tapped.tap.calls("getsockopt");
      assertThat(errno(loop, connect)).isEqualTo(Errno.ECONNREFUSED);
      assertThat(tapped.tap.calls("getsockopt")).isEqualTo(asked + 1);
      assertThat(connect.error())
          .isInstanceOfSatisfying(
              ErrnoException.class, e -> assertThat(e.call()).isEqualTo("connect"))
          .hasMessageContaining("127.0.0.1");
      client.close();
      refused.close();
      acceptor.close();
    }
  }

  // Regression: after a refused connect, the kernel answers the next call on the same socket with
  // ECONNABORTED, even if there is a listener by then.
  // r[verify loop.connect]
  @EveryBackend
  void aConnectThatWasRefusedMayBeMadeAgain(Backend backend) throws IOException {
    Sys sys = Sys.forAnyThread();
    try (EventLoop loop = EventLoop.open(backend);
        Fd listener = Sockets.open(sys, StandardProtocolFamily.INET, Sockets.Type.STREAM, false)) {
      Sockets.bind(sys, listener.number(), LOOPBACK); // reserves the port
      StreamSocket client = socketFor(loop, LOOPBACK);
      ConnectOperation connect = client.connect(Sockets.localAddress(sys, listener.number()));
      for (int i = 0; i < 4; i++) {
        assertThat(errno(loop, connect)).isEqualTo(Errno.ECONNREFUSED);
      }
      Sockets.listen(sys, listener.number(), 1);
      assertThat(result(loop, connect)).isSameAs(client);
      assertThat(client.remoteAddress()).isEqualTo(Sockets.localAddress(sys, listener.number()));
      client.close();
    }
  }

  // r[verify loop.connect] r[verify loop.op.error]
  @EveryBackend
  void aRefusedConnectSaysSoInEachWay(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      SocketAddress nobody = closedPort(loop);
      for (Use use : Use.values()) {
        StreamSocket client = socketFor(loop, LOOPBACK);
        assertThatThrownBy(() -> use.result(loop, client.connect(nobody)))
            .isInstanceOfSatisfying(
                ErrnoException.class, e -> assertThat(e.is(Errno.ECONNREFUSED)).isTrue());
        client.close();
        StreamSocket unix = StreamSocket.open(loop, StandardProtocolFamily.UNIX);
        var missing = UnixDomainSocketAddress.of(directory.resolve("missing"));
        assertThat(errno(loop, unix.connect(missing))).isEqualTo(Errno.ENOENT);
        unix.close();
      }
    }
  }

  // r[verify loop.connect]
  @EveryBackend
  void aConnectToAFullTcpListenerHangsUntilItIsCancelled(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK, 0);
      var clients = new ArrayList<StreamSocket>();
      var stop = new StopSource();
      for (int i = 0; i < 8; i++) {
        StreamSocket client = socketFor(loop, LOOPBACK);
        clients.add(client);
        var connect = start(client.connect(acceptor.localAddress()), stop.token());
        for (int turn = 0; turn < 20 && !connect.done(); turn++) {
          loop.runSome(Duration.ofMillis(5));
        }
        if (!connect.done()) {
          stop.requestStop();
          drive(loop, connect::done);
          assertThat(connect.outcome()).isEqualTo(Outcome.STOPPED);
          break;
        }
      }
      assertThat(stop.isStopRequested()).as("some connect had to wait").isTrue();
      clients.forEach(Handle::close);
      acceptor.close();
    }
  }

  // Regression: an unconnected Unix socket was registered while it waited for room in the
  // listener's queue, and its hang-up was believed forever.
  // r[verify loop.connect]
  @EveryBackend
  void aConnectToAFullUnixListenerIsTriedAgain(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var address = UnixDomainSocketAddress.of(directory.resolve("full"));
      Acceptor acceptor = Acceptor.open(loop, address, 0);
      var clients = new ArrayList<StreamSocket>();
      var connect = start(connecting(loop, address, clients));
      loop.runUntilEmpty();
      while (connect.done()) {
        connect = start(connecting(loop, address, clients));
        loop.runUntilEmpty();
      }
      StreamSocket last = clients.getLast();
      if (tapped.isEpoll()) {
        assertThat(tapped.watched()).doesNotContainKey(last.descriptor());
      }
      result(loop, acceptor.accept()).close();
      drive(loop, connect::done);
      assertThat(connect.value()).isSameAs(last);
      assertThat(last.moreAfterShortRead).isFalse();

      // A waiting connect ends with the loop.
      var waiting = start(connecting(loop, address, clients));
      loop.runUntilEmpty();
      assertThat(waiting.done()).isFalse();
      loop.close();
      assertThat(waiting.outcome()).isEqualTo(Outcome.STOPPED);
      clients.forEach(Handle::close);
      acceptor.close();
    }
  }

  private static ConnectOperation connecting(
      EventLoop loop, SocketAddress address, List<StreamSocket> clients) throws IOException {
    StreamSocket client = StreamSocket.open(loop, StandardProtocolFamily.UNIX);
    clients.add(client);
    return client.connect(address);
  }

  // r[verify loop.op.error]
  @EveryBackend
  void aResetAndAPeerThatIsGoneAreErrors(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = tcp(loop);
      var reading = start(pair.first().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      Sockets.resetOnClose(Sys.forAnyThread(), pair.second().descriptor());
      pair.second().close();
      drive(loop, reading::done);
      assertThat(reading.errno()).isEqualTo(Errno.ECONNRESET);
      assertThat(reading.operation.error()).hasMessageContaining("recv");
      assertThat(errno(loop, pair.first().writeSome(arena.allocate(8))))
          .isEqualTo(Errno.ECONNRESET);
      pair.first().close();

      var unix = StreamSocket.pair(loop, loop);
      unix.second().close();
      drive(loop, unix.second()::isClosed);
      var pieces = List.of(arena.allocate(8), arena.allocate(8));
      assertThat(errno(loop, unix.first().writeAll(arena.allocate(8)))).isEqualTo(Errno.EPIPE);
      TransferOperation vectored = unix.first().writeSome(pieces);
      assertThat(errno(loop, vectored)).isEqualTo(Errno.EPIPE);
      assertThat(vectored.error()).hasMessageContaining("sendmsg");
      unix.first().close();
    }
  }

  // r[verify loop.op.value]
  @EveryBackend
  void optionsAreSetAndRead(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = tcp(loop);
      StreamSocket socket = pair.first();
      assertThat(socket.option(Sockets.IPPROTO_TCP, Sockets.TCP_NODELAY)).isZero();
      socket.setNoDelay(true);
      assertThat(socket.option(Sockets.IPPROTO_TCP, Sockets.TCP_NODELAY)).isNotZero();
      socket.setOption(Sockets.SOL_SOCKET, Sockets.SO_KEEPALIVE, 1);
      assertThat(socket.option(Sockets.SOL_SOCKET, Sockets.SO_KEEPALIVE)).isEqualTo(1);
      assertThatThrownBy(() -> socket.option(Sockets.SOL_SOCKET, 9999))
          .isInstanceOf(ErrnoException.class);
      pair.second().shutdownRead();
      socket.close();
      pair.second().close();
    }
  }

  // r[verify loop.accept.acceptor]
  @EveryBackend
  void closingTheListenerEndsItsAccepts(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (SocketAddress address : addresses()) {
        Acceptor acceptor = Acceptor.open(loop, address);
        var parked = start(acceptor.accept());
        loop.runUntilEmpty();
        assertThat(parked.done()).isFalse();
        acceptor.close();
        drive(loop, parked::done);
        assertThat(parked.outcome()).isEqualTo(Outcome.STOPPED);
        assertThat(errno(loop, acceptor.accept())).isEqualTo(Errno.EBADF);
        if (address instanceof UnixDomainSocketAddress unix) {
          assertThat(Files.exists(unix.getPath())).isFalse();
        }
      }
    }
  }

  @EveryBackend
  void anAddressInUseIsAnErrorAndLeavesNothingOpen(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      SocketAddress taken = acceptor.localAddress();
      Descriptors before = Descriptors.now();
      assertThatThrownBy(() -> Acceptor.open(loop, taken))
          .isInstanceOfSatisfying(
              ErrnoException.class, e -> assertThat(e.is(Errno.EADDRINUSE)).isTrue());
      assertThat(before.openedSince()).isEmpty();
      acceptor.close();
    }
  }

  // Regression: the socket stayed open when its address could not be encoded.
  // r[verify loop.fd.raii]
  @EveryBackend
  void anAddressThatIsNoneLeavesNothingOpen(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Descriptors before = Descriptors.now();
      for (SocketAddress none :
          List.of(
              UnixDomainSocketAddress.of("/tmp/" + "x".repeat(110)),
              InetSocketAddress.createUnresolved("belfry.invalid", 1))) {
        assertThatThrownBy(() -> Acceptor.open(loop, none))
            .isInstanceOf(IllegalArgumentException.class);
      }
      assertThat(before.openedSince()).isEmpty();
    }
  }

  // Regression: the socket file stayed, and the next listener was told that the address is in use.
  @EveryBackend
  void aListenThatFailsLeavesNoSocketFile(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      Path path = directory.resolve("unheard");
      Descriptors before = Descriptors.now();
      tapped.tap.fail("listen", Errno.EADDRINUSE);
      assertThatThrownBy(() -> Acceptor.open(tapped.loop, UnixDomainSocketAddress.of(path)))
          .isInstanceOf(ErrnoException.class);
      assertThat(path).doesNotExist();
      assertThat(before.openedSince()).isEmpty();
    }
  }

  // Regression: a connection that came after its future was cancelled leaked.
  // r[verify loop.fd.raii]
  @EveryBackend
  void aConnectionThatNobodyTakesIsClosed(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      StreamSocket client = socketFor(loop, LOOPBACK);
      result(loop, client.connect(acceptor.localAddress()));
      AcceptOperation accept = acceptor.accept();
      DescriptorSupport.onLoop(
          loop,
          () -> {
            var future = accept.toFuture(); // a connection is waiting: it completes in this turn
            future.cancel(true);
          });
      drive(loop, () -> loop.inFlight() == 0);
      if (backend == Backend.IO_URING) { // it was withdrawn before it was submitted
        assertThat(accept.outcome()).isEqualTo(Outcome.STOPPED);
        result(loop, accept).close();
      }
      assertThat(accept.hasValue()).isTrue();
      drive(loop, accept.value()::isClosed);
      assertThat(read(loop, client)).isEqualTo("<end>");
      client.close();
      acceptor.close();
    }
  }
}
