package dev.belfry.loop;

import dev.belfry.linux.Fd;
import dev.belfry.linux.Message;
import dev.belfry.linux.Sockets;
import dev.belfry.loop.TransferOperation.Kind;
import java.io.IOException;
import java.net.SocketAddress;

/**
 * A socket for bytes or messages. Options and addresses are plain calls that do not block; {@link
 * Handle} says which threads may make them.
 */
public abstract sealed class SocketHandle extends ByteHandle permits StreamSocket, DatagramSocket {
  SocketHandle(EventLoop loop, Fd fd) {
    super(loop, fd, Kind.RECEIVE, Kind.SEND);
  }

  /** Sends a message; it may carry descriptors over a Unix socket. */
  public final MessageOperation send(Message message) {
    return new MessageOperation(this, message, false);
  }

  /** Receives a message. The caller must close the descriptors it takes from the message. */
  public final MessageOperation receive(Message message) {
    return new MessageOperation(this, message, true);
  }

  /**
   * Requests a send buffer of this size ({@code SO_SNDBUF}). The kernel silently caps the size at
   * {@code net.core.wmem_max}, doubles it to cover its own overhead, and reports the doubled size.
   */
  public final void setSendBuffer(int bytes) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_SNDBUF, bytes);
  }

  /**
   * Requests a receive buffer of this size ({@code SO_RCVBUF}); datagrams that do not fit are lost.
   * The kernel silently caps the size at {@code net.core.rmem_max}, doubles it, and reports the
   * doubled size.
   */
  public final void setReceiveBuffer(int bytes) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_RCVBUF, bytes);
  }

  /** Sets an integer option, as in {@link Sockets}. */
  public final void setOption(int level, int name, int value) throws IOException {
    Sockets.setOption(loop.sharedSys, descriptor(), level, name, value);
  }

  /** The value of an integer option, as in {@link Sockets}. */
  public final int option(int level, int name) throws IOException {
    return Sockets.option(loop.sharedSys, descriptor(), level, name);
  }

  /** The local address. */
  public final SocketAddress localAddress() throws IOException {
    return Sockets.localAddress(loop.sharedSys, descriptor());
  }

  /** The address of the peer; fails with ENOTCONN if the socket is not connected. */
  public final SocketAddress remoteAddress() throws IOException {
    return Sockets.remoteAddress(loop.sharedSys, descriptor());
  }
}
