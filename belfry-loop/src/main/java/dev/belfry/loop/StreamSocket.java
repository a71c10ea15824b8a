package dev.belfry.loop;

import dev.belfry.linux.Fd;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;

/** A connected socket that carries bytes, over TCP or a Unix socket. */
public final class StreamSocket extends SocketHandle {
  private final boolean unix;

  /** Whether a connect has succeeded, of which the kernel does not always know; the loop's. */
  boolean connected;

  StreamSocket(EventLoop loop, Fd fd, boolean unix) {
    super(loop, fd);
    this.unix = unix;
  }

  /** A socket that is not connected yet. */
  public static StreamSocket open(EventLoop loop, StandardProtocolFamily family)
      throws IOException {
    Sys sys = loop.sharedSys;
    Fd fd = Sockets.open(sys, family, Sockets.Type.STREAM, false);
    return new StreamSocket(loop, fd, family == StandardProtocolFamily.UNIX);
  }

  /** Two Unix sockets connected to each other, which may be on different loops. */
  public static Pair pair(EventLoop first, EventLoop second) throws IOException {
    Sockets.Pair fds = Sockets.pair(first.sharedSys, Sockets.Type.STREAM, false);
    return new Pair(
        new StreamSocket(first, fds.first(), true), new StreamSocket(second, fds.second(), true));
  }

  /** The two ends of a pair; each is closed separately. */
  public record Pair(StreamSocket first, StreamSocket second) {}

  /** Connects to an address; fails with EISCONN if it is connected, or was. */
  public ConnectOperation connect(SocketAddress address) {
    return new ConnectOperation(this, address);
  }

  /**
   * Says that nothing more will be written: the peer reads to the end. On the loop thread, writes
   * that were started before are done first, as far as there is room. One that has to wait fails
   * with EPIPE, and so may any if this is called from another thread, so wait for it first.
   */
  public void shutdownWrite() throws IOException {
    if (loop.inLoop()) {
      loop.driver.flush(this);
    }
    Sockets.shutdown(loop.sharedSys, descriptor(), Sockets.SHUT_WR);
  }

  /** Says that nothing more will be read. */
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

  /** Not on Unix sockets: there descriptors may come along. */
  @Override
  boolean receivesAhead() {
    return !unix;
  }

  /** Not on Unix sockets: there a read ends where descriptors came along, and more may follow. */
  @Override
  boolean isEmptyAfterShortRead() {
    return !unix;
  }
}
