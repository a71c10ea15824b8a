package dev.belfry.cli;

import dev.belfry.loop.AcceptOperation;
import dev.belfry.loop.Acceptor;
import dev.belfry.loop.Operation;
import dev.belfry.loop.StoppedException;
import dev.belfry.loop.StreamSocket;
import dev.belfry.loop.TransferOperation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/** Accepts connections and sends back what they receive, with callbacks or with coroutines. */
final class EchoServer {
  private static final int BUFFER_BYTES = 16 * 1024;

  private final AcceptOperation accept;
  private final Acceptor acceptor;
  private final boolean coroutines;

  EchoServer(Acceptor acceptor, boolean coroutines) {
    this.acceptor = acceptor;
    this.accept = acceptor.accept();
    this.coroutines = coroutines;
  }

  void start() {
    accept.start(this::accepted);
  }

  private void accepted(Operation<? extends StreamSocket> completed) {
    try {
      serve(completed.result());
    } catch (StoppedException closing) {
      return;
    } catch (IOException e) {
      System.getLogger(EchoServer.class.getName())
          .log(System.Logger.Level.WARNING, "cannot serve a connection", e);
    }
    accept.start(this::accepted);
  }

  private void serve(StreamSocket socket) throws IOException {
    try {
      if (socket.localAddress() instanceof InetSocketAddress) {
        socket.setNoDelay(true);
      }
    } catch (IOException e) {
      socket.close();
      throw e;
    }
    if (coroutines) {
      acceptor.loop().spawn("echo", () -> converse(socket));
    } else {
      new Conversation(socket).readNext();
    }
  }

  private static void converse(StreamSocket socket) {
    try (socket) {
      MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES);
      TransferOperation read = socket.readSome(buffer);
      TransferOperation write = socket.writeAll(buffer);
      while (read.await() >= 0) {
        write.buffer(buffer.asSlice(0, read.bytes())).await();
      }
    } catch (IOException lost) {
      // A client that is gone is nothing to log.
    }
  }

  /** One connection, with callbacks. Reads and writes alternate; each allocates at most a slice. */
  private static final class Conversation {
    private final StreamSocket socket;
    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES);
    private final TransferOperation read;
    private final TransferOperation write;

    Conversation(StreamSocket socket) {
      this.socket = socket;
      this.read = socket.readSome(buffer);
      this.write = socket.writeAll(buffer);
    }

    void readNext() {
      read.start(this::wasRead);
    }

    private void wasRead(Operation<? extends Integer> completed) {
      if (completed.hasValue() && read.bytes() >= 0) {
        write.buffer(buffer.asSlice(0, read.bytes())).start(this::wasWritten);
      } else {
        socket.close();
      }
    }

    private void wasWritten(Operation<? extends Integer> completed) {
      if (completed.hasValue()) {
        readNext();
      } else {
        socket.close();
      }
    }
  }
}
