package dev.belfry.loop;

import static dev.belfry.linux.Errno.EBADF;
import static dev.belfry.linux.Errno.EINTR;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SubmissionQueue;
import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An operation on a descriptor: one system call, or several of the same kind. The driver decides
 * when to attempt it.
 */
abstract class IoOperation<T> extends Operation<T> {
  /** A result of {@link #attempt}: not now, and no event will tell when; retry after a pause. */
  static final long LATER = Long.MIN_VALUE;

  /** A result: make the call again at once. */
  static final long AGAIN = -EINTR;

  final Handle handle;

  // r[impl loop.backend.no-alloc]
  // The links of a WaitQueue; changed by the queue alone.
  @Nullable IoOperation<?> previous;
  @Nullable IoOperation<?> following;
  boolean queued;

  // On io_uring: the operation as a request, created when first needed, and whether a kernel thread
  // is to wait for the disk from the start.
  UringLane.@Nullable UringOperation request;
  boolean aside;

  IoOperation(Handle handle) {
    super(handle.loop);
    this.handle = handle;
  }

  /** Whether it waits for the descriptor to become readable; otherwise writable. */
  abstract boolean isRead();

  /**
   * Makes the system call.
   *
   * @return its result, {@code -errno}, or {@link #LATER}
   */
  abstract long attempt(Sys sys);

  /**
   * Interprets the result of the system call; returns that result, {@code -errno}, {@link #LATER}
   * or {@link #AGAIN}.
   */
  long judge(long result) {
    return result;
  }

  /** Whether io_uring can do it as a request; otherwise the call is made on the loop thread. */
  boolean isRequest() {
    return false;
  }

  /** Whether a call is likely to succeed at once, so that io_uring should make it. */
  boolean isCallWorthwhile() {
    return false;
  }

  /** Writes the request to the ring. */
  void prepare(SubmissionQueue queue, long token) {
    throw new IllegalStateException(this + " is no request");
  }

  /** Whether it reads, never more than this much at once, into a single piece of memory. */
  boolean readsAtMost(int bytes) {
    return false;
  }

  /**
   * Copies bytes that were received ahead; they count once they are passed to {@link #accept}.
   *
   * @param done how many bytes were copied this way since the last {@code accept}
   * @return how many of the bytes fitted
   */
  int fill(MemorySegment source, long start, int length, int done) {
    throw new IllegalStateException(this + " receives nothing");
  }

  /** Whether the call is pointless while the descriptor is known not to be ready. */
  boolean needsReadiness() {
    return true;
  }

  /** Whether earlier operations in the same direction have to complete first. */
  boolean isOrdered() {
    return true;
  }

  /**
   * Takes the result of a successful call.
   *
   * @return whether the operation is complete; otherwise the call is made again
   */
  abstract boolean accept(long result);

  /**
   * Whether a result shows, without another call, that nothing more is available for now. Called
   * before the result is {@link #accept accepted}.
   */
  boolean exhausts(long result) {
    return false;
  }

  /** The number of bytes moved by a successful call, if it moves any. */
  long bytesIn(long result) {
    return result;
  }

  /** Whether there is nothing to do, so that it completes without a call. */
  boolean isEmpty() {
    return false;
  }

  /** The name of the system call, for errors. */
  abstract String call();

  /** Prepares for a new start; called for each start. */
  void reset() {}

  @Override
  final void launch() {
    reset();
    if (handle.isClosed()) {
      fail(-EBADF);
    } else if (isEmpty()) {
      completeValue();
    } else {
      loop.driver.start(this);
    }
  }

  @Override
  final void withdraw() {
    loop.driver.cancel(this);
  }

  // r[impl loop.op.error]
  final void fail(long negativeErrno) {
    handle.failed((int) -negativeErrno);
    completeError(new ErrnoException(call(), (int) -negativeErrno, about()));
  }

  /** The subject of the call, for errors. */
  String about() {
    return handle.what();
  }

  @Override
  public String toString() {
    return call() + " on " + handle.what();
  }
}
