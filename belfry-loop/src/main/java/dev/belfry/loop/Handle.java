package dev.belfry.loop;

import static dev.belfry.linux.Errno.ECONNRESET;
import static dev.belfry.linux.Errno.EHOSTUNREACH;
import static dev.belfry.linux.Errno.ENETUNREACH;
import static dev.belfry.linux.Errno.ETIMEDOUT;

import dev.belfry.linux.Fd;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor on a loop. The handle owns the descriptor: closing it completes waiting operations
 * as stopped, and operations started later complete with EBADF.
 *
 * <p>Operations may be started, and {@link #close} may be called, from any thread. From another
 * thread, a close is posted to the loop and takes effect when the loop gets to it. Methods that use
 * the descriptor directly, such as setting an option, are for the loop thread, or for other threads
 * as long as none closes the handle: the number of a closed descriptor may be reused.
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

  // Used by the driver.
  int slot = NOT_REGISTERED;

  /** The peer has hung up or sent urgent data: a short read does not mean that it is drained. */
  boolean moreAfterShortRead;

  boolean unpollable;

  /** Whether io_uring cannot serve this descriptor, so that plain system calls are made. */
  boolean takesCallsOnly;

  /** The state on io_uring; created by that driver. */
  @Nullable UringHandle uring;

  /**
   * How the connection broke, as {@code -errno}, or zero. The kernel reports the error to a single
   * call. Reads after that only see the end of the stream, and writes EPIPE.
   */
  int broken;

  /** Written by the loop thread; after the end of the loop, by the closing thread. */
  private volatile boolean closed;

  Handle(EventLoop loop, Fd fd) {
    this.loop = loop;
    this.fd = fd;
  }

  /** The loop this handle belongs to. */
  public final EventLoop loop() {
    return loop;
  }

  /**
   * The descriptor's number, for system calls this library does not offer. Do not read from a TCP
   * socket on io_uring with it: the loop may already have received the data.
   */
  public final int descriptor() {
    return fd.number();
  }

  /** Whether the handle is closed. */
  public final boolean isClosed() {
    return closed;
  }

  /**
   * Closes the descriptor; a second call does nothing. Writes started before are attempted first:
   * to a file they are all completed, elsewhere as far as there is room without waiting. A write
   * that would have to wait is stopped, so await it before closing if all of it matters.
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

  /** Records that the connection broke, if that is what this error means. */
  final void failed(int errno) {
    switch (errno) {
      case ECONNRESET, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH ->
          broken = isStreamSocket() ? -errno : 0;
      default -> {}
    }
  }

  /**
   * The result of a call, or how the connection broke if that is what the result means.
   *
   * @param afterwards what the kernel returns once it has reported the error to another call
   */
  final long orBroken(long result, long afterwards) {
    return result == afterwards && broken != 0 ? broken : result;
  }

  /** The last chance to use the descriptor. */
  void beforeClose() {}

  /** Names the descriptor in messages. */
  final String what() {
    return fd.toString();
  }

  /** Whether it is a socket without message boundaries: a read of zero bytes means the end. */
  boolean isStreamSocket() {
    return false;
  }

  /** Whether a short read means that nothing is left to read. */
  boolean isEmptyAfterShortRead() {
    return false;
  }

  /** Whether data may be received before it is asked for, because it is nothing but bytes. */
  boolean receivesAhead() {
    return false;
  }

  /** Whether it is a file on disk: it never becomes ready, but the kernel can wait for it. */
  boolean isRegularFile() {
    return false;
  }

  /** Whether an event reports when a send that had to wait is worth another attempt. */
  boolean tellsWhenWritable() {
    return true;
  }

  final WaitQueue direction(IoOperation<?> operation) {
    return operation.isRead() ? reads : writes;
  }

  /** Continues this handle's operations in the next turn. */
  final void resumeNextTurn() {
    if (!resume.queued) {
      resume.queued = true;
      loop.work.addNext(resume);
    }
  }

  /** Continues the waiting operations. */
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

  /** A close on its way to the loop. Once the loop has ended, nothing else uses the descriptor. */
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
      if (!handle.closed) { // else the loop closed it first
        handle.closed = true;
        handle.beforeClose();
        handle.fd.close();
      }
    }
  }
}
