package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EALREADY;
import static dev.belfry.linux.Errno.ECONNABORTED;
import static dev.belfry.linux.Errno.EINPROGRESS;
import static dev.belfry.linux.Errno.EISCONN;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.SubmissionQueue;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;

/** Connects a socket; made by {@link StreamSocket#connect}. */
// r[impl loop.connect]
public final class ConnectOperation extends IoOperation<StreamSocket> {
  private final StreamSocket socket;
  private final SocketAddress address;
  private final MemorySegment encoded;

  /** Whether the call was made and its outcome is awaited. */
  private boolean inProgress;

  /** How often a ring was asked since the start. */
  private int requests;

  ConnectOperation(StreamSocket socket, SocketAddress address) {
    super(socket);
    this.socket = socket;
    this.address = address;
    this.encoded = Sockets.encode(Arena.ofAuto(), address);
  }

  @Override
  StreamSocket value() {
    return socket;
  }

  @Override
  boolean isRead() {
    return false;
  }

  @Override
  String call() {
    return "connect";
  }

  @Override
  String about() {
    return address.toString();
  }

  @Override
  void reset() {
    inProgress = false;
    requests = 0;
  }

  @Override
  long attempt(Sys sys) {
    int fd = socket.descriptor();
    if (inProgress) {
      try {
        return -Sockets.takeError(sys, fd);
      } catch (ErrnoException e) {
        return -e.errno();
      }
    }
    if (socket.connected) {
      // The kernel finds out that a connect has ended when the next one is made, which it then lets
      // succeed, wherever that was to go.
      return -EISCONN;
    }
    int result = Sockets.connect(sys, fd, encoded);
    if (result == -ECONNABORTED) { // the last word on a connect that failed before
      result = Sockets.connect(sys, fd, encoded);
    }
    if (result == -EINPROGRESS) {
      inProgress = true;
      return -EAGAIN; // the socket becomes writable once it is decided
    }
    // A Unix listener with a full queue says EAGAIN, and nothing tells when it has room again.
    return result == -EAGAIN ? LATER : result;
  }

  /** One that was cancelled may be under way, which the call says at once. */
  @Override
  boolean needsReadiness() {
    return false;
  }

  /** Not to a Unix listener, for whose queue the kernel would wait on a thread of its own. */
  @Override
  boolean isRequest() {
    return !(address instanceof UnixDomainSocketAddress) && !socket.connected && !inProgress;
  }

  @Override
  void prepare(SubmissionQueue queue, long token) {
    requests++;
    queue.connect(token, socket.descriptor(), encoded);
  }

  /** A request that moved to another ring is made again, though it has begun to connect. */
  @Override
  long judge(long result) {
    return result == -EALREADY && requests > 1 ? -EAGAIN : result;
  }

  @Override
  boolean accept(long result) {
    socket.connected = true;
    socket.broken = 0; // that was an attempt before
    return true;
  }
}
