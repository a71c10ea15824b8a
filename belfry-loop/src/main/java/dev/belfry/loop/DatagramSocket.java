package dev.belfry.loop;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Message;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.loop.TransferOperation.Kind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;

/**
 * A socket that carries messages: UDP, or a Unix socket. Connected, it can be read and written;
 * otherwise each {@link Message} has its address. A message of no bytes reads as {@link
 * TransferOperation#END_OF_FILE}; receive a {@code Message} to tell the two apart.
 */
public final class DatagramSocket extends ByteHandle {
  private final boolean unix;
  private volatile boolean connected;

  private DatagramSocket(EventLoop loop, Fd fd, boolean unix) {
    super(loop, fd, Kind.RECEIVE, Kind.SEND);
    this.unix = unix;
  }

  /** A socket without an address. */
  public static DatagramSocket open(EventLoop loop, StandardProtocolFamily family)
      throws IOException {
    Sys sys = loop.sharedSys;
    Fd fd = Sockets.open(sys, family, Sockets.Type.DATAGRAM, false);
    return new DatagramSocket(loop, fd, family == StandardProtocolFamily.UNIX);
  }

  /** Gives the socket an address; port 0 stands for any free one. */
  public void bind(SocketAddress address) throws IOException {
    Sockets.bind(loop.sharedSys, descriptor(), address);
  }

  /** Sends to this address, and receives from it, from now on; takes no time. */
  public void connect(SocketAddress address) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      int result = Sockets.connect(loop.sharedSys, descriptor(), Sockets.encode(arena, address));
      if (result < 0) {
        throw new ErrnoException("connect", -result, address);
      }
    }
    connected = true;
  }

  /** Sends one message. */
  public MessageOperation send(Message message) {
    return new MessageOperation(this, message, false);
  }

  /** Receives one message. */
  public MessageOperation receive(Message message) {
    return new MessageOperation(this, message, true);
  }

  /** The address on this side. */
  public SocketAddress localAddress() throws IOException {
    return Sockets.localAddress(loop.sharedSys, descriptor());
  }

  /**
   * For a Unix socket that sends to many, the kernel cannot know whose queue is meant: it says that
   * the socket can be written, and says so again after each attempt that found the queue full.
   */
  @Override
  boolean tellsWhenWritable() {
    return !unix || connected;
  }
}
