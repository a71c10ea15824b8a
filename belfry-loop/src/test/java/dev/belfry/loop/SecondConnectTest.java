package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.errno;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** A connect on a socket that is connected already, or about to be. */
final class SecondConnectTest {
  @TempDir Path directory;

  private List<SocketAddress> addresses() {
    return List.of(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        new InetSocketAddress(InetAddress.ofLiteral("::1"), 0),
        UnixDomainSocketAddress.of(directory.resolve("listener")));
  }

  // Regression: the kernel notices that a connect has completed only when connect is called again.
  // So on epoll a second connect succeeded, whatever its address.
  // r[verify loop.connect] r[verify loop.backend.surface]
  @EveryBackend
  void isRefusedAndTheConnectionStays(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (SocketAddress address : addresses()) {
        Acceptor acceptor = Acceptor.open(loop, address);
        Acceptor other =
            Acceptor.open(
                loop,
                address instanceof UnixDomainSocketAddress
                    ? UnixDomainSocketAddress.of(directory.resolve("other"))
                    : address);
        StreamSocket client = StreamSocket.open(loop, Sockets.familyOf(address));
        ConnectOperation connect = client.connect(acceptor.localAddress());
        result(loop, connect);
        assertThat(errno(loop, connect)).isEqualTo(Errno.EISCONN);
        assertThat(errno(loop, client.connect(other.localAddress()))).isEqualTo(Errno.EISCONN);
        assertThat(client.remoteAddress()).isEqualTo(acceptor.localAddress());
        StreamSocket server = result(loop, acceptor.accept());
        assertThat(errno(loop, server.connect(other.localAddress()))).isEqualTo(Errno.EISCONN);
        write(loop, client, "still there");
        assertThat(read(loop, server)).isEqualTo("still there");
        for (Handle handle : List.of(client, server, acceptor, other)) {
          handle.close();
          drive(loop, handle::isClosed);
        }
      }
    }
  }

  // r[verify loop.connect] r[verify loop.backend.surface]
  @EveryBackend
  void isRefusedAfterAReset(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Acceptor acceptor = Acceptor.open(loop, addresses().getFirst());
      StreamSocket client = StreamSocket.open(loop, Sockets.familyOf(acceptor.localAddress()));
      ConnectOperation connect = client.connect(acceptor.localAddress());
      result(loop, connect);
      StreamSocket server = result(loop, acceptor.accept());
      Sockets.resetOnClose(Sys.forAnyThread(), server.descriptor());
      server.close();
      drive(loop, server::isClosed);
      assertThat(errno(loop, connect)).isEqualTo(Errno.EISCONN);
      client.close();
      acceptor.close();
    }
  }

  // Regression: on epoll it waited for the outcome of the first connect, whatever its address.
  // r[verify loop.connect] r[verify loop.backend.surface]
  @EveryBackend
  void isRefusedWhileOneThatWasCancelledIsUnderWay(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Acceptor acceptor = Acceptor.open(loop, addresses().getFirst(), 0);
      var clients = new ArrayList<StreamSocket>();
      Probe<StreamSocket> waiting;
      do { // until the queue is full
        assertThat(clients).hasSizeLessThan(8);
        clients.add(StreamSocket.open(loop, Sockets.familyOf(acceptor.localAddress())));
        waiting = start(clients.getLast().connect(acceptor.localAddress()));
        var pause = start(loop.scheduler().after(Duration.ofMillis(50)));
        drive(loop, pause::done);
      } while (waiting.done());
      waiting.operation.cancel();
      drive(loop, waiting::done);
      var second = clients.getLast().connect(acceptor.localAddress());
      assertThat(errno(loop, second)).isEqualTo(Errno.EALREADY);
      clients.forEach(Handle::close);
      acceptor.close();
    }
  }
}
