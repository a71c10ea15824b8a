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
 * A socket that carries messages: UDP, or a Unix socket. Connected, it can be read and written;
 * otherwise each {@link Message} has its address. A message of no bytes reads as {@link
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

  /**
   * Lets others that ask for it too have the same address ({@code SO_REUSEADDR}). Each of them gets
   * what is broadcast there, but any other message goes to the last that was bound. To be set
   * before {@link #bind}.
   */
  public void setReuseAddress(boolean reuse) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_REUSEADDR, reuse ? 1 : 0);
  }

  /**
   * Shares an address with others of the same user that ask for it too ({@code SO_REUSEPORT}): each
   * message goes to one of them, all from one sender to the same. So a server has a socket on each
   * of several loops. To be set before {@link #bind}.
   */
  public void setReusePort(boolean reuse) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_REUSEPORT, reuse ? 1 : 0);
  }

  /** Allows to send to a broadcast address ({@code SO_BROADCAST}), which else fails with EACCES. */
  public void setBroadcast(boolean broadcast) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_BROADCAST, broadcast ? 1 : 0);
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
