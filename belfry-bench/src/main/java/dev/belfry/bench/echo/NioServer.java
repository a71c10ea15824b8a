package dev.belfry.bench.echo;

import dev.belfry.bench.harness.ContenderMain;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * An echo server on the JDK's selector. Keys are handled as they are found, without a set of
 * selected keys, and interest changes only while an answer does not fit into the socket.
 */
public final class NioServer {
  private final Selector selector = Selector.open();
  private final ServerSocketChannel listener = ServerSocketChannel.open();

  private NioServer() throws IOException {
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
    listener.configureBlocking(false);
    listener.register(selector, SelectionKey.OP_ACCEPT);
  }

  public static void main(String[] arguments) throws IOException {
    var server = new NioServer();
    Thread.ofPlatform().name("selector").start(server::run);
    ContenderMain.ready(((InetSocketAddress) server.listener.getLocalAddress()).getPort());
    ContenderMain.awaitEnd();
    System.exit(0);
  }

  private void run() {
    try {
      while (true) {
        selector.select(this::handle);
      }
    } catch (IOException e) {
      throw new IllegalStateException("the selector failed", e);
    }
  }

  private void handle(SelectionKey key) {
    try {
      if (key.attachment() instanceof ByteBuffer buffer) {
        echo(key, (SocketChannel) key.channel(), buffer);
      } else {
        acceptAll();
      }
    } catch (IOException peerHasGone) {
      close(key);
    }
  }

  private void acceptAll() throws IOException {
    SocketChannel channel;
    while ((channel = listener.accept()) != null) {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      ByteBuffer buffer = ByteBuffer.allocateDirect(BelfryCallbackServer.BUFFER_BYTES);
      channel.register(selector, SelectionKey.OP_READ, buffer);
    }
  }

  private static void echo(SelectionKey key, SocketChannel channel, ByteBuffer buffer)
      throws IOException {
    if (buffer.position() == 0) { // nothing of the last answer is left
      if (channel.read(buffer) < 0) {
        close(key);
        return;
      }
    }
    buffer.flip();
    channel.write(buffer);
    int interest;
    if (buffer.hasRemaining()) {
      buffer.compact();
      interest = SelectionKey.OP_WRITE;
    } else {
      buffer.clear();
      interest = SelectionKey.OP_READ;
    }
    if (key.interestOps() != interest) {
      key.interestOps(interest);
    }
  }

  private static void close(SelectionKey key) {
    try {
      key.channel().close();
    } catch (IOException gone) {
      // It was about to be closed anyway.
    }
  }
}
