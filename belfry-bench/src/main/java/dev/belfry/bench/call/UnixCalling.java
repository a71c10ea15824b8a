package dev.belfry.bench.call;

import dev.belfry.bench.harness.ContenderMain;
import dev.belfry.bench.harness.ContenderProcess;
import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.bench.harness.Pinning;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The JDK's Unix-domain sockets, blocking: one connection, with a thread of its own, per caller. A
 * caller first announces the length of its payloads.
 */
final class UnixCalling implements Calling {
  private final ContenderProcess server;
  private final Path directory;
  private final List<SocketChannel> connections = new ArrayList<>();

  private UnixCalling(ContenderProcess server, Path directory) {
    this.server = server;
    this.directory = directory;
  }

  static Calling open() throws IOException {
    Path directory = Files.createTempDirectory("belfry-call");
    ContenderProcess server =
        ContenderProcess.start(
            "unix-socket",
            JavaCommand.of(List.of(), Server.class, socket(directory).toString()),
            Pinning.NONE);
    server.awaitReady();
    return new UnixCalling(server, directory);
  }

  private static Path socket(Path directory) {
    return directory.resolve("socket");
  }

  @Override
  public Caller caller(int bytes) throws IOException {
    SocketChannel connection = SocketChannel.open(UnixDomainSocketAddress.of(socket(directory)));
    connections.add(connection);
    write(connection, ByteBuffer.allocate(Integer.BYTES).putInt(bytes).flip());
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
    return payload -> {
      write(connection, buffer.clear().put(payload).flip());
      if (!read(connection, buffer.clear())) {
        throw new IOException("the other process is gone");
      }
      byte[] answer = new byte[bytes];
      buffer.flip().get(answer);
      return answer;
    };
  }

  private static void write(SocketChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  /** Fills a buffer; false at the end of the stream. */
  private static boolean read(SocketChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel connection : connections) {
      connection.close();
    }
    server.close();
    Files.deleteIfExists(socket(directory));
    Files.delete(directory);
  }

  /** The process that answers. */
  static final class Server {
    private Server() {}

    public static void main(String[] arguments) throws IOException {
      ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      listener.bind(UnixDomainSocketAddress.of(arguments[0]));
      Thread.ofPlatform().daemon().start(() -> accept(listener));
      ContenderMain.ready("");
      ContenderMain.awaitEnd();
      System.exit(0);
    }

    private static void accept(ServerSocketChannel listener) {
      try {
        while (true) {
          SocketChannel connection = listener.accept();
          Thread.ofPlatform().daemon().start(() -> answer(connection));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void answer(SocketChannel connection) {
      try (connection) {
        ByteBuffer length = ByteBuffer.allocate(Integer.BYTES);
        if (!read(connection, length)) {
          return;
        }
        ByteBuffer buffer = ByteBuffer.allocateDirect(length.getInt(0));
        while (read(connection, buffer.clear())) {
          byte[] call = new byte[buffer.capacity()];
          buffer.flip().get(call);
          write(connection, buffer.clear().put(call).flip());
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
