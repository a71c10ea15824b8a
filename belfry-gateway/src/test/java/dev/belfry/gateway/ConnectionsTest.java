package dev.belfry.gateway;

import static org.awaitility.Awaitility.await;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.socket.PeerInfo;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class ConnectionsTest {
  /** Long enough for a request to begin, however busy the machine is. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /**
   * A thread whose interruption fails, as it may when memory is short. No connection used to be cut
   * off after that.
   */
  private static final class Unwell extends Thread {
    final CountDownLatch failed = new CountDownLatch(1);

    Unwell(Runnable task) {
      super(task);
    }

    @Override
    public void interrupt() {
      failed.countDown();
      throw new OutOfMemoryError("not really");
    }
  }

  @Test
  void whatFailsOnceIsNotTheEndOfAllLimits() throws Exception {
    try (var connections = new Connections(PATIENCE);
        ServerSocketChannel server = listen();
        SocketChannel _ = SocketChannel.open(server.getLocalAddress());
        SocketChannel first = server.accept();
        SocketChannel _ = SocketChannel.open(server.getLocalAddress());
        SocketChannel second = server.accept()) {
      connections.socketOptions().configureSocket(first);
      Client client = connections.of(peer(first.getRemoteAddress()), peer(first.getLocalAddress()));
      client.inflow(new Inflow(DataReader.create(() -> new byte[0])));
      var unwell = new Unwell(client::begin);
      unwell.start();
      unwell.join();
      unwell.failed.await();
      connections.socketOptions().configureSocket(second);
      await().until(() -> !second.isOpen());
    }
  }

  private static ServerSocketChannel listen() throws IOException {
    return ServerSocketChannel.open()
        .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private static PeerInfo peer(SocketAddress address) {
    return (PeerInfo)
        Proxy.newProxyInstance(
            PeerInfo.class.getClassLoader(), new Class<?>[] {PeerInfo.class}, (_, _, _) -> address);
  }
}
