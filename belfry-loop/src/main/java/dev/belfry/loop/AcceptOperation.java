package dev.belfry.loop;

import static dev.belfry.linux.Errno.ECONNABORTED;
import static dev.belfry.linux.Errno.EMFILE;
import static dev.belfry.linux.Errno.ENFILE;
import static dev.belfry.linux.Errno.ENOBUFS;
import static dev.belfry.linux.Errno.ENOMEM;
import static dev.belfry.linux.Errno.EPERM;
import static dev.belfry.linux.Errno.EPROTO;

import dev.belfry.linux.Fd;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.SubmissionQueue;
import dev.belfry.linux.Sys;
import org.jspecify.annotations.Nullable;

/** Accepts one connection; created by {@link Acceptor#accept}. */
// r[impl loop.accept.once]
public final class AcceptOperation extends IoOperation<StreamSocket> {
  /** How many aborted connections in a row to skip before other descriptors get a turn. */
  private static final int MAX_SKIPPED = 64;

  private final Acceptor acceptor;
  private final EventLoop owner;
  private @Nullable StreamSocket accepted;

  /** The number of aborted connections in a row. */
  private int skipped;

  AcceptOperation(Acceptor acceptor, EventLoop owner) {
    super(acceptor);
    this.acceptor = acceptor;
    this.owner = owner;
  }

  @Override
  StreamSocket value() {
    StreamSocket socket = accepted;
    if (socket == null) {
      throw new IllegalStateException("the value was taken");
    }
    return socket;
  }

  @Override
  boolean isRead() {
    return true;
  }

  @Override
  String call() {
    return "accept4";
  }

  @Override
  void reset() {
    accepted = null;
  }

  @Override
  long attempt(Sys sys) {
    long result;
    do {
      result = judge(Sockets.accept(sys, acceptor.descriptor()));
    } while (result == AGAIN);
    acceptor.moreMayWait = result >= 0;
    return result;
  }

  @Override
  long judge(long result) {
    boolean gone = result == -ECONNABORTED || result == -EPROTO || result == -EPERM;
    // These errors concern one connection, which is gone; the next may be fine. There is a limit,
    // because a sandbox may refuse them all.
    if (gone && ++skipped < MAX_SKIPPED) {
      return AGAIN;
    }
    skipped = 0;
    return switch ((int) -result) {
      case EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, EPROTO, EPERM -> {
        loop.metrics.acceptPostponed();
        yield LATER; // no event tells when there is room again
      }
      default -> result;
    };
  }

  @Override
  boolean isRequest() {
    return true;
  }

  /** After a connection there is often another: a request would take one for each turn. */
  @Override
  boolean isCallWorthwhile() {
    return acceptor.moreMayWait;
  }

  @Override
  void prepare(SubmissionQueue queue, long token) {
    queue.accept(token, acceptor.descriptor());
  }

  @Override
  boolean accept(long result) {
    acceptor.moreMayWait = true;
    // The shared calls, because any thread may close the socket once the loop has ended.
    Fd fd = Fd.own(owner.sharedSys, (int) result, "accepted socket");
    accepted = new StreamSocket(owner, fd, acceptor.isUnix());
    return true;
  }

  @Override
  long bytesIn(long result) {
    return 0; // the result is a descriptor
  }

  @Override
  void discardValue() {
    value().close();
  }
}
