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
import dev.belfry.linux.Sys;
import org.jspecify.annotations.Nullable;

/** Takes one connection; made by {@link Acceptor#accept}. */
// r[impl loop.accept.once]
public final class AcceptOperation extends IoOperation<StreamSocket> {
  private final Acceptor acceptor;
  private @Nullable StreamSocket accepted;

  AcceptOperation(Acceptor acceptor) {
    super(acceptor);
    this.acceptor = acceptor;
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
    int result;
    do {
      result = Sockets.accept(sys, acceptor.descriptor());
      // Those are about the one connection, which is gone; the next may be better.
    } while (result == -ECONNABORTED || result == -EPROTO || result == -EPERM);
    return switch (-result) {
      case EMFILE, ENFILE, ENOBUFS, ENOMEM -> {
        loop.metrics.acceptPostponed();
        yield LATER; // no event tells when there is room again
      }
      default -> result;
    };
  }

  @Override
  boolean accept(long result) {
    accepted = new StreamSocket(loop, Fd.own(loop.sys, (int) result, "accepted socket"));
    return true;
  }
}
