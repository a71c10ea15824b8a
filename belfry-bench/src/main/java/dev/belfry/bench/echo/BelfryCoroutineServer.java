package dev.belfry.bench.echo;

import dev.belfry.bench.harness.ContenderMain;
import dev.belfry.loop.AcceptOperation;
import dev.belfry.loop.Acceptor;
import dev.belfry.loop.Backend;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.LoopCarrier;
import dev.belfry.loop.StreamSocket;
import dev.belfry.loop.TransferOperation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** An echo server on Belfry's loop, with one coroutine per connection. */
public final class BelfryCoroutineServer {
  private BelfryCoroutineServer() {}

  public static void main(String[] arguments) throws IOException {
    LoopCarrier.unavailabilityCause()
        .ifPresent(
            cause -> {
              throw new IllegalStateException(cause);
            });
    EventLoop loop = EventLoop.open(Backend.valueOf(arguments[0]));
    Acceptor acceptor =
        Acceptor.open(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    loop.spawn("acceptor", () -> acceptAll(loop, acceptor));
    Thread.ofPlatform().name("loop").start(() -> drive(loop));
    ContenderMain.ready(((InetSocketAddress) acceptor.localAddress()).getPort());
    ContenderMain.awaitEnd();
    System.exit(0);
  }

  private static void drive(EventLoop loop) {
    try {
      loop.run();
    } catch (IOException e) {
      throw new IllegalStateException("the loop failed", e);
    }
  }

  private static void acceptAll(EventLoop loop, Acceptor acceptor) {
    AcceptOperation accept = acceptor.accept();
    try {
      while (true) {
        StreamSocket socket = accept.await();
        socket.setNoDelay(true);
        loop.spawn("connection", () -> echo(socket));
      }
    } catch (IOException e) {
      throw new IllegalStateException("connections cannot be served", e);
    }
  }

  private static void echo(StreamSocket socket) {
    try (socket) {
      MemorySegment buffer = Arena.ofAuto().allocate(BelfryCallbackServer.BUFFER_BYTES);
      MemorySegment message = buffer;
      TransferOperation read = socket.readSome(buffer);
      TransferOperation write = socket.writeAll(buffer);
      while (read.await() > 0) {
        if (message.byteSize() != read.bytes()) {
          message = buffer.asSlice(0, read.bytes());
          write.buffer(message);
        }
        write.await();
      }
    } catch (IOException peerHasGone) {
      // The socket gets closed; nothing else to do.
    }
  }
}
