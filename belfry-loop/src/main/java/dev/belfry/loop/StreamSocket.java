package dev.belfry.loop;

import dev.belfry.linux.Fd;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;

/** A connected socket that carries a stream of bytes, over TCP or a Unix socket. */
public final class StreamSocket extends SocketHandle {
  private final boolean unix;

  /** Whether a connect has succeeded, which the kernel does not always know; loop thread only. */
  boolean connected;

  StreamSocket(EventLoop loop, Fd fd, boolean unix) {
    super(loop, fd);
    this.unix = unix;
  }

  /** Opens a socket that is not connected yet. */
  public static StreamSocket open(EventLoop loop, StandardProtocolFamily family)
      throws IOException {
    Sys sys = loop.sharedSys;
    Fd fd = Sockets.open(sys, family, Sockets.Type.STREAM, false);
    return new StreamSocket(loop, fd, family == StandardProtocolFamily.UNIX);
  }

  /** Opens two Unix sockets connected to each other, which may be on different loops. */
  public static Pair pair(EventLoop first, EventLoop second) throws IOException {
    Sockets.Pair fds = Sockets.pair(first.sharedSys, Sockets.Type.STREAM, false);
    return new Pair(
        new StreamSocket(first, fds.first(), true), new StreamSocket(second, fds.second(), true));
  }

  /** The two ends of a pair; each is closed separately. */
  public record Pair(StreamSocket first, StreamSocket second) {}

  /** Connects to an address; fails with EISCONN if the socket is or was connected. */
  public ConnectOperation connect(SocketAddress address) {
    return new ConnectOperation(this, address);
  }

  /**
   * Shuts down writing: the peer reads to the end of the stream. On the loop thread, writes started
   * before are attempted first, as far as there is room. A write that has to wait fails with EPIPE,
   * and so may any write if another thread calls this; await them first.
   */
  public void shutdownWrite() throws IOException {
    if (loop.inLoop()) {
      loop.driver.flush(this);
    }
    Sockets.shutdown(loop.sharedSys, descriptor(), Sockets.SHUT_WR);
  }

  /** Shuts down reading. */
  public void shutdownRead() throws IOException {
    Sockets.shutdown(loop.sharedSys, descriptor(), Sockets.SHUT_RD);
  }

  /** Sends small writes at once instead of gathering them ({@code TCP_NODELAY}). */
  public void setNoDelay(boolean noDelay) throws IOException {
    setOption(Sockets.IPPROTO_TCP, Sockets.TCP_NODELAY, noDelay ? 1 : 0);
  }

  @Override
  boolean isStreamSocket() {
    return true;
  }

  /** Not on Unix sockets, where descriptors may come with the data. */
  @Override
  boolean receivesAhead() {
    return !unix;
  }

  /** Not on Unix sockets: a read ends where descriptors were attached, and more data may follow. */
  @Override
  boolean isEmptyAfterShortRead() {
    return !unix;
  }
}
