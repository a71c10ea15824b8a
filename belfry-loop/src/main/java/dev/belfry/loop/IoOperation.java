package dev.belfry.loop;

import static dev.belfry.linux.Errno.EBADF;
import static dev.belfry.linux.Errno.EINTR;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SubmissionQueue;
import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An operation on a descriptor. What it does is one system call, or several of a kind; when to try
 * it is the driver's business.
 */
abstract class IoOperation<T> extends Operation<T> {
  /** An answer of {@link #attempt}: not now, and no event will tell when; try again in a while. */
  static final long LATER = Long.MIN_VALUE;

  /** The answer that a call is to be made again at once. */
  static final long AGAIN = -EINTR;

  final Handle handle;

  // r[impl loop.backend.no-alloc]
  // The place in the queue of a direction; changed by the queue alone.
  @Nullable IoOperation<?> previous;
  @Nullable IoOperation<?> following;
  boolean queued;

  // On an io_uring: the operation as a request, made when first needed, and whether the kernel is
  // to wait for the disk from the start.
  UringLane.@Nullable UringOperation request;
  boolean aside;

  IoOperation(Handle handle) {
    super(handle.loop);
    this.handle = handle;
  }

  /** Whether it waits for the descriptor to be readable; otherwise for it to be writable. */
  abstract boolean isRead();

  /**
   * Makes the system call.
   *
   * @return its result, {@code -errno}, or {@link #LATER}
   */
  abstract long attempt(Sys sys);

  /**
   * Says what the result of the system call means: that result, {@code -errno}, {@link #LATER} or
   * {@link #AGAIN}.
   */
  long judge(long result) {
    return result;
  }

  /** Whether a ring can do it as a request; else the call is made on the loop thread. */
  boolean isRequest() {
    return false;
  }

  /** Writes the request. */
  void prepare(SubmissionQueue queue, long token) {
    throw new IllegalStateException(this + " is no request");
  }

  /** Whether it reads, and never more than this much at once, into one piece of memory. */
  boolean readsAtMost(int bytes) {
    return false;
  }

  /**
   * Takes bytes that were received earlier; they count once {@link #accept} is told of them.
   *
   * @param done how many bytes were taken this way since {@code accept} was last told
   * @return how many of them fitted
   */
  int fill(MemorySegment source, long start, int length, int done) {
    throw new IllegalStateException(this + " receives nothing");
  }

  /** Whether a call is not worth making while the descriptor is known not to be ready. */
  boolean needsReadiness() {
    return true;
  }

  /** Whether those before it in the same direction have to complete first. */
  boolean isOrdered() {
    return true;
  }

  /**
   * Takes the result of a successful call.
   *
   * @return whether the operation is complete, else the call is to be made again
   */
  abstract boolean accept(long result);

  /**
   * Whether a result says that there is nothing more to be had for now, without another call; asked
   * before the result is {@link #accept accepted}.
   */
  boolean exhausts(long result) {
    return false;
  }

  /** How many bytes a successful call has moved, if it moves any. */
  long bytesIn(long result) {
    return result;
  }

  /** Whether there is nothing to do, so that it completes without a call. */
  boolean isEmpty() {
    return false;
  }

  /** The name of the system call, for errors. */
  abstract String call();

  /** Makes it possible to start from the beginning again; called for each start. */
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

  /** What the call is about, for errors. */
  String about() {
    return handle.what();
  }

  @Override
  public String toString() {
    return call() + " on " + handle.what();
  }
}
