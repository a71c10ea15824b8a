package dev.belfry.bench.ipc;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A blocking Unix-domain socket of the JDK. */
final class UnixSocketEnd implements IpcEnd {
  private final SocketChannel channel;
  private final ByteBuffer out;
  private final ByteBuffer in;

  UnixSocketEnd(SocketChannel channel, int length) {
    this.channel = channel;
    this.out = ByteBuffer.allocateDirect(length);
    this.in = ByteBuffer.allocateDirect(length);
  }

  @Override
  public void send(long number) throws IOException {
    out.clear();
    out.putLong(0, number);
    while (out.hasRemaining()) {
      channel.write(out);
    }
  }

  @Override
  public long receive() throws IOException {
    in.clear();
    while (in.hasRemaining()) {
      if (channel.read(in) < 0) {
        throw new EOFException("the peer is gone");
      }
    }
    return in.getLong(0);
  }
}
