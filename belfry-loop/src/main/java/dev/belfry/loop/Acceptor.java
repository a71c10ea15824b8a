package dev.belfry.loop;

import dev.belfry.linux.Fd;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A socket that others connect to. Closing it also removes the file of a Unix socket. */
// r[impl loop.accept.acceptor]
public final class Acceptor extends Handle {
  private static final int DEFAULT_BACKLOG = 1024;

  /** The file to remove, or null. */
  private final @Nullable Path file;

  private Acceptor(EventLoop loop, Fd fd, @Nullable Path file) {
    super(loop, fd);
    this.file = file;
  }

  /** Listens at an address; port 0 stands for any free one. */
  public static Acceptor open(EventLoop loop, SocketAddress address) throws IOException {
    return open(loop, address, DEFAULT_BACKLOG);
  }

  /** Listens at an address; so many connections may wait to be accepted. */
  public static Acceptor open(EventLoop loop, SocketAddress address, int backlog)
      throws IOException {
    Sys sys = loop.sharedSys;
    Fd fd = Sockets.open(sys, Sockets.familyOf(address), Sockets.Type.STREAM, false);
    try {
      Path file = null;
      if (address instanceof UnixDomainSocketAddress unix) {
        file = unix.getPath();
      } else {
        // Else a restart has to wait until the connections of the last run are forgotten.
        Sockets.setOption(sys, fd.number(), Sockets.SOL_SOCKET, Sockets.SO_REUSEADDR, 1);
      }
      Sockets.bind(sys, fd.number(), address);
      Sockets.listen(sys, fd.number(), backlog);
      return new Acceptor(loop, fd, file);
    } catch (IOException e) {
      fd.close();
      throw e;
    }
  }

  /** Takes one connection. */
  // r[impl loop.accept.acceptor]
  public AcceptOperation accept() {
    return new AcceptOperation(this);
  }

  boolean isUnix() {
    return file != null;
  }

  /** The address it listens at, with the port it got. */
  public SocketAddress localAddress() throws IOException {
    return Sockets.localAddress(loop.sharedSys, descriptor());
  }

  @Override
  void beforeClose() {
    if (file != null) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException left) {
        // Whoever listens there next is told that the address is in use.
        System.getLogger(Acceptor.class.getName())
            .log(System.Logger.Level.WARNING, "cannot remove the socket file " + file, left);
      }
    }
  }
}
