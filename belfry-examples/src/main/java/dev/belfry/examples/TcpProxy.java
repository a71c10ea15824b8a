package dev.belfry.examples;

import dev.belfry.loop.Acceptor;
import dev.belfry.loop.Coroutine;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.StreamSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Passes bytes between clients and a server in both directions, with a time limit for each step.
 */
final class TcpProxy {
  private final EventLoop loop;
  private final SocketAddress server;
  private final Duration limit;

  private TcpProxy(EventLoop loop, SocketAddress server, Duration limit) {
    this.loop = loop;
    this.server = server;
    this.limit = limit;
  }

  public static void main(String[] args) throws IOException {
    InetAddress here = InetAddress.getLoopbackAddress();
    try (EventLoop loop = EventLoop.open();
        Acceptor acceptor = Acceptor.open(loop, new InetSocketAddress(here, 0))) {
      var server = new InetSocketAddress(here, Integer.parseInt(args[0]));
      var proxy = new TcpProxy(loop, server, Duration.ofMillis(Long.parseLong(args[1])));
      System.out.println("listening at " + acceptor.localAddress());
      loop.spawn(
          "acceptor",
          () -> {
            while (true) {
              StreamSocket client = acceptor.accept().await();
              loop.spawn("client", () -> proxy.serve(client));
            }
          });
      loop.run();
    }
  }

  // @start region="proxy"
  private void serve(StreamSocket client) throws Exception {
    try (client;
        StreamSocket to = StreamSocket.open(loop, StandardProtocolFamily.INET)) {
      to.connect(server).await(limit);
      Coroutine<Void> answers = loop.spawn("answers", () -> pass(to, client));
      CompletableFuture<Void> answered = answers.result();
      try {
        pass(client, to);
        answered.get();
      } finally {
        answers.cancel(); // if the client has gone
      }
    }
  }

  private void pass(StreamSocket from, StreamSocket to) throws IOException {
    MemorySegment buffer = Arena.ofAuto().allocate(16 * 1024);
    int bytes;
    while ((bytes = from.readSome(buffer).await(limit)) >= 0) {
      to.writeAll(buffer.asSlice(0, bytes)).await(limit);
    }
    to.shutdownWrite(); // it reads to the end, and may still answer
  }

  // @end
}
