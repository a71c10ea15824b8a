package dev.belfry.loop;

import static dev.belfry.linux.Errno.ECONNRESET;
import static dev.belfry.linux.Errno.EHOSTUNREACH;
import static dev.belfry.linux.Errno.ENETUNREACH;
import static dev.belfry.linux.Errno.ETIMEDOUT;

import dev.belfry.linux.Fd;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor on a loop. It owns the descriptor: closing it ends what waits on it as stopped, and
 * whatever is started on it later completes with EBADF.
 *
 * <p>Operations may be started from any thread. So may {@link #close}; from another thread it is
 * posted to the loop and takes effect when the loop gets to it. What uses the descriptor at once,
 * such as setting an option, is for the loop thread, or for others as long as nobody closes it: the
 * number of a closed descriptor may be another's.
 */
// r[impl loop.fd.raii]
public abstract class Handle implements AutoCloseable {
  static final int NOT_REGISTERED = -1;

  final EventLoop loop;
  final Fd fd;
  final WaitQueue reads = new WaitQueue();
  final WaitQueue writes = new WaitQueue();
  private final Resume resume = new Resume(this);
  private final Close close = new Close(this);

  // The driver's.
  int slot = NOT_REGISTERED;

  /** The peer has hung up or sent urgent data: a short read is not the end of what is there. */
  boolean moreAfterShortRead;

  boolean unpollable;

  /** Whether its calls cannot be requests of an io_uring. */
  boolean takesCallsOnly;

  /** Made by that driver. */
  @Nullable UringHandle uring;

  /**
   * How the connection broke, {@code -errno}, or zero. The kernel tells one call, which may be a
   * write, and tells all reads after it that the stream has ended.
   */
  int broken;

  /** Set on the loop thread. */
  private volatile boolean closed;

  Handle(EventLoop loop, Fd fd) {
    this.loop = loop;
    this.fd = fd;
  }

  /** The loop it belongs to. */
  public final EventLoop loop() {
    return loop;
  }

  /**
   * The descriptor's number, for calls this library does not have. Not for reading from a TCP
   * socket on io_uring: the loop may have received what you look for.
   */
  public final int descriptor() {
    return fd.number();
  }

  /** Whether it was closed. */
  public final boolean isClosed() {
    return closed;
  }

  /**
   * Closes the descriptor; a second call does nothing. Writes that were started before are done
   * first, as far as they need not wait: to a file all of them, elsewhere as much as there is room
   * for. One that would have to wait is stopped, so wait for it first if all of it matters.
   */
  @Override
  public final void close() {
    if (closed) {
      return;
    }
    if (loop.inLoop()) {
      closeNow();
    } else if (close.isFirstRequest()) {
      loop.post(close);
    }
  }

  private void closeNow() {
    if (!closed) {
      closed = true;
      loop.driver.flush(this);
      beforeClose();
      loop.driver.close(this);
    }
  }

  /** Remembers that an operation failed, if it did because the connection broke. */
  final void failed(int errno) {
    switch (errno) {
      case ECONNRESET, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH ->
          broken = isStreamSocket() ? -errno : 0;
      default -> {}
    }
  }

  /** The last chance to use the descriptor. */
  void beforeClose() {}

  /** Names it in messages. */
  final String what() {
    return fd.toString();
  }

  /** Whether it is a socket without message boundaries, so that reading no bytes means the end. */
  boolean isStreamSocket() {
    return false;
  }

  /** Whether a short read means that nothing is left. */
  boolean isEmptyAfterShortRead() {
    return false;
  }

  /** Whether what comes may be received before it is read: it is bytes and nothing else. */
  boolean receivesAhead() {
    return false;
  }

  /**
   * Whether it is a file on a disk, for which the kernel can wait and which never becomes ready.
   */
  boolean isRegularFile() {
    return false;
  }

  /** Whether an event tells when a send that had to wait is worth trying again. */
  boolean tellsWhenWritable() {
    return true;
  }

  final WaitQueue direction(IoOperation<?> operation) {
    return operation.isRead() ? reads : writes;
  }

  /** Continues in the next turn. */
  final void resumeNextTurn() {
    if (!resume.queued) {
      resume.queued = true;
      loop.work.addNext(resume);
    }
  }

  /** Continues with what waits. */
  private static final class Resume extends Task {
    private final Handle handle;
    private boolean queued;

    Resume(Handle handle) {
      this.handle = handle;
    }

    @Override
    public void run() {
      queued = false;
      if (!handle.closed) {
        handle.loop.driver.resume(handle);
      }
    }

    @Override
    void abandoned() {}
  }

  /** A close on its way to the loop; once the loop has ended, nobody else uses the descriptor. */
  private static final class Close extends Task {
    private final Handle handle;
    private boolean requested;

    Close(Handle handle) {
      this.handle = handle;
    }

    synchronized boolean isFirstRequest() {
      boolean first = !requested;
      requested = true;
      return first;
    }

    @Override
    public void run() {
      handle.closeNow();
    }

    @Override
    void abandoned() {
      if (!handle.closed) { // else the loop was faster
        handle.closed = true;
        handle.beforeClose();
        handle.fd.close();
      }
    }
  }
}
