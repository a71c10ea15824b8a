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

/** Connects a socket; created by {@link StreamSocket#connect}. */
// r[impl loop.connect]
public final class ConnectOperation extends IoOperation<StreamSocket> {
  private final StreamSocket socket;
  private final SocketAddress address;
  private final MemorySegment encoded;

  /** Whether the call was made and its outcome is pending. */
  private boolean inProgress;

  /** The number of io_uring requests made since the start. */
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
      // The kernel notices that a connect has completed only when the next one is made, and then
      // lets that one succeed, whatever its address.
      return -EISCONN;
    }
    int result = Sockets.connect(sys, fd, encoded);
    if (result == -ECONNABORTED) { // the outcome of an earlier connect that failed
      result = Sockets.connect(sys, fd, encoded);
    }
    if (result == -EINPROGRESS) {
      inProgress = true;
      return -EAGAIN; // the socket becomes writable when the outcome is known
    }
    // EAGAIN: the queue of a Unix listener is full, and no event will tell when it has room again.
    return result == -EAGAIN ? LATER : result;
  }

  /** A connect cancelled before may still be under way; the call says so at once. */
  @Override
  boolean needsReadiness() {
    return false;
  }

  /** Not for Unix listeners: with a full queue, the kernel would block a thread of its own. */
  @Override
  boolean isRequest() {
    return !(address instanceof UnixDomainSocketAddress) && !socket.connected && !inProgress;
  }

  @Override
  void prepare(SubmissionQueue queue, long token) {
    requests++;
    queue.connect(token, socket.descriptor(), encoded);
  }

  /** A request that was moved to another ring is made again, though the connect is under way. */
  @Override
  long judge(long result) {
    return result == -EALREADY && requests > 1 ? -EAGAIN : result;
  }

  @Override
  boolean accept(long result) {
    socket.connected = true;
    socket.broken = 0; // it belongs to an earlier attempt
    return true;
  }
}
