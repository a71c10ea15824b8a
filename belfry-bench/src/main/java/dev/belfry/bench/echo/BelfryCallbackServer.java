package dev.belfry.bench.echo;

import dev.belfry.bench.harness.ContenderMain;
import dev.belfry.loop.AcceptOperation;
import dev.belfry.loop.Acceptor;
import dev.belfry.loop.Backend;
import dev.belfry.loop.Completion;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.Operation;
import dev.belfry.loop.StreamSocket;
import dev.belfry.loop.TransferOperation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** An echo server on Belfry's loop, with callbacks. */
public final class BelfryCallbackServer {
  static final int BUFFER_BYTES = 4096;

  private BelfryCallbackServer() {}

  public static void main(String[] arguments) throws IOException {
    EventLoop loop = EventLoop.open(Backend.valueOf(arguments[0]));
    Acceptor acceptor =
        Acceptor.open(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Thread.ofPlatform().name("loop").start(() -> drive(loop, acceptor));
    ContenderMain.ready(((InetSocketAddress) acceptor.localAddress()).getPort());
    ContenderMain.awaitEnd();
    System.exit(0);
  }

  private static void drive(EventLoop loop, Acceptor acceptor) {
    AcceptOperation accept = acceptor.accept();
    accept.start(BelfryCallbackServer::accepted);
    try {
      loop.run();
    } catch (IOException e) {
      throw new IllegalStateException("the loop failed", e);
    }
  }

  private static void accepted(Operation<? extends StreamSocket> accept) {
    if (accept.hasValue()) {
      try {
        StreamSocket socket = accept.result();
        socket.setNoDelay(true);
        new Connection(socket).readNext();
      } catch (IOException e) {
        throw new IllegalStateException("a connection cannot be served", e);
      }
    }
    accept.start(BelfryCallbackServer::accepted);
  }

  /** Reads, writes what was read, and reads again. */
  private static final class Connection {
    private final StreamSocket socket;
    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES);
    private final TransferOperation read;
    private final TransferOperation write;

    // Created once: each evaluation of a method reference would create a new one.
    private final Completion<Integer> readDone = this::readDone;
    private final Completion<Integer> writeDone = this::writeDone;

    /** What was read last; most messages are as long as the one before. */
    private MemorySegment message = buffer;

    Connection(StreamSocket socket) {
      this.socket = socket;
      this.read = socket.readSome(buffer);
      this.write = socket.writeAll(buffer);
    }

    void readNext() {
      read.start(readDone);
    }

    private void readDone(Operation<? extends Integer> done) {
      int bytes = done.hasValue() ? read.bytes() : TransferOperation.END_OF_FILE;
      if (bytes <= 0) {
        socket.close();
        return;
      }
      if (message.byteSize() != bytes) {
        message = buffer.asSlice(0, bytes);
        write.buffer(message);
      }
      write.start(writeDone);
    }

    private void writeDone(Operation<? extends Integer> done) {
      if (done.hasValue()) {
        readNext();
      } else {
        socket.close();
      }
    }
  }
}
