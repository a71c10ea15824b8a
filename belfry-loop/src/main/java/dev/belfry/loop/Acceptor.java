package dev.belfry.loop;

import dev.belfry.linux.Fd;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** A listening socket. Closing it also removes the file of a Unix socket. */
// r[impl loop.accept.acceptor]
public final class Acceptor extends Handle {
  private static final int DEFAULT_BACKLOG = 1024;

  /** The file to remove, or null. */
  private final @Nullable SocketFile file;

  /** Whether the last call accepted a connection; another may wait then. */
  boolean moreMayWait;

  private Acceptor(EventLoop loop, Fd fd, @Nullable SocketFile file) {
    super(loop, fd);
    this.file = file;
  }

  /** The file of a Unix socket, with a key that tells it from another file at the same path. */
  private record SocketFile(Path path, Object key) {
    static SocketFile at(Path path) throws IOException {
      return new SocketFile(path, keyOf(path));
    }

    private static Object keyOf(Path path) throws IOException {
      return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    /** Removes the file, unless another socket listens there by now. */
    void remove() throws IOException {
      if (keyOf(path).equals(key)) {
        Files.delete(path);
      }
    }
  }

  /** Listens at an address; port 0 stands for any free port. */
  public static Acceptor open(EventLoop loop, SocketAddress address) throws IOException {
    return open(loop, address, DEFAULT_BACKLOG);
  }

  /** Listens at an address; up to {@code backlog} connections may wait to be accepted. */
  public static Acceptor open(EventLoop loop, SocketAddress address, int backlog)
      throws IOException {
    Sys sys = loop.sharedSys;
    Fd fd = Sockets.open(sys, Sockets.familyOf(address), Sockets.Type.STREAM, false);
    SocketFile file = null;
    try {
      if (!(address instanceof UnixDomainSocketAddress)) {
        // Otherwise a restart fails until the connections of the last run have left TIME_WAIT.
        Sockets.setOption(sys, fd.number(), Sockets.SOL_SOCKET, Sockets.SO_REUSEADDR, 1);
      }
      Sockets.bind(sys, fd.number(), address);
      if (address instanceof UnixDomainSocketAddress unix) {
        file = SocketFile.at(unix.getPath());
      }
      Sockets.listen(sys, fd.number(), backlog);
      return new Acceptor(loop, fd, file);
    } catch (IOException | RuntimeException e) { // also for an invalid address
      fd.close();
      remove(file);
      throw e;
    }
  }

  /** Accepts one connection. */
  // r[impl loop.accept.acceptor]
  public AcceptOperation accept() {
    return accept(loop);
  }

  /**
   * Accepts one connection for another loop, such as the next loop of a group, which then owns the
   * socket. The accept itself runs on this loop and completes on it.
   *
   * {@snippet :
   * EventLoop next = group.next();
   * StreamSocket client = acceptor.accept(next).await();
   * next.spawn("client", () -> serve(client)); // which closes it, even if that loop was stopped
   * }
   */
  public AcceptOperation accept(EventLoop owner) {
    return new AcceptOperation(this, owner);
  }

  boolean isUnix() {
    return file != null;
  }

  /** The address it listens at, with the actual port. */
  public SocketAddress localAddress() throws IOException {
    return Sockets.localAddress(loop.sharedSys, descriptor());
  }

  @Override
  void beforeClose() {
    remove(file);
  }

  private static void remove(@Nullable SocketFile file) {
    if (file != null) {
      try {
        file.remove();
      } catch (NoSuchFileException gone) {
        // Already removed.
      } catch (IOException left) {
        // The next process to listen there is told that the address is in use.
        System.getLogger(Acceptor.class.getName())
            .log(System.Logger.Level.WARNING, "cannot remove the socket file " + file.path(), left);
      }
    }
  }
}
