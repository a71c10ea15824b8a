package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.bytes;
import static dev.belfry.loop.DescriptorSupport.errno;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Message;
import dev.belfry.linux.Sockets;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** The options of a UDP socket that are set before its use. */
final class DatagramSocketTest {
  private static final InetSocketAddress LOOPBACK =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final Arena arena = Arena.ofAuto();

  private static DatagramSocket udp(EventLoop loop) throws IOException {
    return DatagramSocket.open(loop, StandardProtocolFamily.INET);
  }

  private Message messageTo(SocketAddress address, String text) {
    var message = new Message(arena, 1, 0);
    message.data().add(bytes(arena, text));
    message.setAddress(address);
    return message;
  }

  private static void assertErrno(ThrowingCallable call, int errno) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(errno));
  }

  @EveryBackend
  void anAddressIsSharedByThoseWhoAskForIt(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        DatagramSocket first = udp(loop);
        DatagramSocket second = udp(loop);
        DatagramSocket third = udp(loop);
        DatagramSocket sender = udp(loop)) {
      first.setReusePort(true);
      first.bind(LOOPBACK);
      SocketAddress shared = first.localAddress();
      assertErrno(() -> second.bind(shared), Errno.EADDRINUSE);
      second.setReusePort(true);
      second.bind(shared);
      assertThat(second.localAddress()).isEqualTo(shared);
      third.setReuseAddress(true);
      assertThat(third.option(Sockets.SOL_SOCKET, Sockets.SO_REUSEADDR)).isEqualTo(1);
      third.setReuseAddress(false);
      assertThat(third.option(Sockets.SOL_SOCKET, Sockets.SO_REUSEADDR)).isZero();
      // One of them receives it, the other nothing.
      assertThat(result(loop, sender.send(messageTo(shared, "hello")))).isEqualTo(5);
      var readers =
          List.of(
              DescriptorSupport.start(first.readSome(arena.allocate(8))),
              DescriptorSupport.start(second.readSome(arena.allocate(8))));
      DescriptorSupport.drive(loop, () -> readers.stream().anyMatch(DescriptorSupport.Probe::done));
      loop.runUntilEmpty();
      assertThat(readers.stream().filter(DescriptorSupport.Probe::done)).hasSize(1);
    }
  }

  @EveryBackend
  void aBroadcastIsForThoseWhoSayThatTheyMeanIt(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        DatagramSocket one = udp(loop);
        DatagramSocket another = udp(loop);
        DatagramSocket sender = udp(loop)) {
      SocketAddress everybody = new InetSocketAddress(InetAddress.ofLiteral("127.255.255.255"), 0);
      one.setReuseAddress(true);
      one.bind(everybody);
      another.setReuseAddress(true);
      another.bind(one.localAddress());
      MessageOperation send = sender.send(messageTo(one.localAddress(), "to all"));
      assertThat(errno(loop, send)).isEqualTo(Errno.EACCES);
      sender.setBroadcast(true);
      assertThat(result(loop, send)).isEqualTo(6);
      assertThat(read(loop, one)).isEqualTo("to all");
      assertThat(read(loop, another)).isEqualTo("to all");
      sender.setBroadcast(false);
      assertThat(errno(loop, send)).isEqualTo(Errno.EACCES);
    }
  }

  @EveryBackend
  void theRoomForMessagesIsAsked(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        DatagramSocket socket = udp(loop)) {
      socket.setReceiveBuffer(20_000);
      socket.setSendBuffer(30_000);
      // The kernel reports twice the size, for its own overhead.
      assertThat(socket.option(Sockets.SOL_SOCKET, Sockets.SO_RCVBUF)).isEqualTo(40_000);
      assertThat(socket.option(Sockets.SOL_SOCKET, Sockets.SO_SNDBUF)).isEqualTo(60_000);
      assertErrno(() -> socket.option(Sockets.SOL_SOCKET, 9999), Errno.ENOPROTOOPT);
    }
  }

  @EveryBackend
  void aConnectedOneKnowsTheOtherSide(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        DatagramSocket socket = udp(loop);
        DatagramSocket peer = udp(loop)) {
      peer.bind(LOOPBACK);
      assertErrno(socket::remoteAddress, Errno.ENOTCONN);
      socket.connect(peer.localAddress());
      assertThat(socket.remoteAddress()).isEqualTo(peer.localAddress());
    }
  }
}
