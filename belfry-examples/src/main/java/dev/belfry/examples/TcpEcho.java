package dev.belfry.examples;

import dev.belfry.loop.Acceptor;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.StreamSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Sends back whatever clients send, with one coroutine per client. */
// r[impl loop.test.examples]
final class TcpEcho {
  private TcpEcho() {}

  public static void main(String[] args) throws IOException {
    int port = args.length > 0 ? Integer.parseInt(args[0]) : 0;
    // @start region="tcp-echo"
    try (EventLoop loop = EventLoop.open();
        Acceptor acceptor =
            Acceptor.open(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
      System.out.println("listening at " + acceptor.localAddress());
      loop.spawn(
          "acceptor",
          () -> {
            while (true) {
              StreamSocket client = acceptor.accept().await();
              loop.spawn("client", () -> echo(client));
            }
          });
      loop.run();
    }
    // @end
  }

  // @start region="echo"
  private static void echo(StreamSocket client) throws IOException {
    try (client) {
      MemorySegment buffer = Arena.ofAuto().allocate(4096);
      int bytes;
      while ((bytes = client.readSome(buffer).await()) >= 0) {
        client.writeAll(buffer.asSlice(0, bytes)).await();
      }
    }
  }
  // @end
}
