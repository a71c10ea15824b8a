package dev.belfry.loop;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Message;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;

/**
 * A socket that carries messages: UDP, or a Unix socket. A connected socket can be read and
 * written; otherwise each {@link Message} carries its address. An empty message reads as {@link
 * TransferOperation#END_OF_FILE}; receive a {@code Message} to tell the two apart.
 *
 * {@snippet :
 * Message message = new Message(Arena.ofAuto(), 1, 0); // of one piece, without descriptors
 * message.data().add(buffer);
 * int bytes = socket.receive(message).await();
 *
 * Message answer = new Message(Arena.ofAuto(), 1, 0);
 * answer.data().add(buffer.asSlice(0, bytes));
 * answer.setAddress(message.address());
 * socket.send(answer).await();
 * }
 */
public final class DatagramSocket extends SocketHandle {
  private final boolean unix;
  private volatile boolean connected;

  private DatagramSocket(EventLoop loop, Fd fd, boolean unix) {
    super(loop, fd);
    this.unix = unix;
  }

  /** Opens a socket without an address. */
  public static DatagramSocket open(EventLoop loop, StandardProtocolFamily family)
      throws IOException {
    Sys sys = loop.sharedSys;
    Fd fd = Sockets.open(sys, family, Sockets.Type.DATAGRAM, false);
    return new DatagramSocket(loop, fd, family == StandardProtocolFamily.UNIX);
  }

  /** Binds the socket to an address; port 0 stands for any free port. */
  public void bind(SocketAddress address) throws IOException {
    Sockets.bind(loop.sharedSys, descriptor(), address);
  }

  /** From now on sends to this address and receives only from it. Does not block. */
  public void connect(SocketAddress address) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      int result = Sockets.connect(loop.sharedSys, descriptor(), Sockets.encode(arena, address));
      if (result < 0) {
        throw new ErrnoException("connect", -result, address);
      }
    }
    connected = true;
  }

  /**
   * Shares the address with other sockets that set this option too ({@code SO_REUSEADDR}). Each of
   * them receives what is broadcast there; any other message goes to the one bound last. Set it
   * before {@link #bind}.
   */
  public void setReuseAddress(boolean reuse) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_REUSEADDR, reuse ? 1 : 0);
  }

  /**
   * Shares the address with other sockets of the same user that set this option too ({@code
   * SO_REUSEPORT}). Each message goes to one of them, and all messages from one sender to the same
   * one. This lets a server have a socket on each of several loops. Set it before {@link #bind}.
   */
  public void setReusePort(boolean reuse) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_REUSEPORT, reuse ? 1 : 0);
  }

  /** Permits sending to broadcast addresses ({@code SO_BROADCAST}), otherwise EACCES. */
  public void setBroadcast(boolean broadcast) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_BROADCAST, broadcast ? 1 : 0);
  }

  /**
   * For an unconnected Unix socket the kernel cannot know which receiver's queue is meant. It
   * always reports the socket as writable, again after each attempt that found a queue full.
   */
  @Override
  boolean tellsWhenWritable() {
    return !unix || connected;
  }
}
