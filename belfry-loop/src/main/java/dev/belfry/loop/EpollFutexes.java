package dev.belfry.loop;

import static java.util.Objects.requireNonNull;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.ErrnoException;
import org.jspecify.annotations.Nullable;

/**
 * Waits for words of memory on an epoll loop. epoll cannot do that, so the waits are requests to an
 * io_uring whose descriptor epoll watches or, where there is no io_uring, run on threads. Neither
 * exists before the first wait. Loop thread only.
 */
final class EpollFutexes implements AutoCloseable {
  /** The token of the ring's events. */
  static final long TOKEN = -3;

  private final LoopCore loop;
  private final Epoll epoll;
  private @Nullable Uring uring;
  private @Nullable FutexWaits waits;

  EpollFutexes(LoopCore loop, Epoll epoll) {
    this.loop = loop;
    this.epoll = epoll;
  }

  void start(FutexOperation operation) {
    if (waits == null) {
      uring = openWatched();
      waits = new FutexWaits(uring, loop.sharedSys);
    }
    waits.start(operation);
  }

  private @Nullable Uring openWatched() {
    Uring opened;
    try {
      opened = Uring.open(loop.sys);
    } catch (ErrnoException notHere) {
      return null; // an old kernel, a seccomp filter, a limit
    }
    if (epoll.add(opened.number(), Epoll.IN, TOKEN) < 0) {
      opened.close();
      return null;
    }
    return opened;
  }

  void cancel(FutexOperation operation) {
    if (waits != null) {
      waits.cancel(operation);
    }
  }

  void cancelAll() {
    if (waits != null) {
      waits.cancelAll();
    }
  }

  /** Gets back the requests that the ring still has, and ends the threads. */
  void takeBack() {
    if (uring != null) {
      uring.takeBack();
    }
    if (waits != null) {
      waits.close();
    }
  }

  /** Submits started and cancelled waits; returns how many waits that has ended. */
  int handOver() throws ErrnoException {
    return isBehind() ? requireNonNull(uring).turn(Driver.NOW) : 0;
  }

  private boolean isBehind() {
    return uring != null && uring.hasRequests();
  }

  /** How long the loop may sleep: not while there is something to submit that can be submitted. */
  long limit(long deadline) {
    if (deadline == Driver.NOW || !isBehind()) {
      return deadline;
    }
    return requireNonNull(uring).lacksMemory() ? Uring.retry(deadline) : Driver.NOW;
  }

  /** Completes the waits that the ring reports as over. */
  void completed() throws ErrnoException {
    if (uring != null) {
      uring.turn(Driver.NOW);
    }
  }

  @Override
  public void close() {
    if (uring != null) {
      uring.close();
    }
  }
}
