package dev.belfry.loop;

import dev.belfry.linux.Fd;
import dev.belfry.linux.Message;
import dev.belfry.linux.Sockets;
import dev.belfry.loop.TransferOperation.Kind;
import java.io.IOException;
import java.net.SocketAddress;

/**
 * A socket that bytes or messages come out of and go into. Options and addresses are plain calls
 * that take no time; which thread may make them says {@link Handle}.
 */
public abstract sealed class SocketHandle extends ByteHandle permits StreamSocket, DatagramSocket {
  SocketHandle(EventLoop loop, Fd fd) {
    super(loop, fd, Kind.RECEIVE, Kind.SEND);
  }

  /** Sends a message; it may carry descriptors over a Unix socket. */
  public final MessageOperation send(Message message) {
    return new MessageOperation(this, message, false);
  }

  /** Receives a message; whoever takes descriptors that came with it has to close them. */
  public final MessageOperation receive(Message message) {
    return new MessageOperation(this, message, true);
  }

  /**
   * Asks for room for what is sent and has not left yet ({@code SO_SNDBUF}). The kernel takes it
   * for its own needs too: it reports twice as much, and grants no more than {@code
   * net.core.wmem_max} without a word.
   */
  public final void setSendBuffer(int bytes) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_SNDBUF, bytes);
  }

  /**
   * Asks for room for what has come and is not read yet ({@code SO_RCVBUF}); what finds none is
   * lost, if it is a datagram. The kernel reports twice as much, and grants no more than {@code
   * net.core.rmem_max} without a word.
   */
  public final void setReceiveBuffer(int bytes) throws IOException {
    setOption(Sockets.SOL_SOCKET, Sockets.SO_RCVBUF, bytes);
  }

  /** Sets an option that is a number, as in {@link Sockets}. */
  public final void setOption(int level, int name, int value) throws IOException {
    Sockets.setOption(loop.sharedSys, descriptor(), level, name, value);
  }

  /** The value of an option that is a number, as in {@link Sockets}. */
  public final int option(int level, int name) throws IOException {
    return Sockets.option(loop.sharedSys, descriptor(), level, name);
  }

  /** The address on this side. */
  public final SocketAddress localAddress() throws IOException {
    return Sockets.localAddress(loop.sharedSys, descriptor());
  }

  /** The address on the other side; ENOTCONN if it is not connected. */
  public final SocketAddress remoteAddress() throws IOException {
    return Sockets.remoteAddress(loop.sharedSys, descriptor());
  }
}
