package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EOPNOTSUPP;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.SubmissionQueue;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a handle on io_uring. Queued operations are submitted one after the other, so
 * that they complete in order. Those with an explicit file offset are submitted all at once.
 *
 * <p>A request that reads or writes memory never waits in the kernel. It completes with EAGAIN, and
 * a poll request then waits until it is worth another attempt. So while an operation waits, the
 * kernel holds none of its memory: closing the arena meanwhile causes an error and not a crash.
 * Files are the exception, because only the kernel can wait for a disk.
 */
final class UringLane {
  /** How many polls in a row may report readiness in vain before a timer takes over. */
  private static final int FRUITLESS = 3;

  private final Uring uring;
  private final UringHandle owner;
  private final Handle handle;
  private final WaitQueue queue;
  private final ReadinessPoll poll;
  private final boolean reads;

  /** Receives ahead of reads, where possible; created at the first read. */
  private @Nullable UringReceiver receiver;

  /** How often the poll has reported readiness since a call last succeeded. */
  private int events;

  UringLane(Uring uring, UringHandle owner, WaitQueue queue, boolean reads) {
    this.uring = uring;
    this.owner = owner;
    this.handle = owner.handle;
    this.queue = queue;
    this.reads = reads;
    this.poll = new ReadinessPoll(owner, this, reads ? Epoll.IN : Epoll.OUT);
  }

  void start(IoOperation<?> operation) {
    queue.add(operation);
    if (operation.isOrdered()) {
      goOn();
    } else if (operation.isRequest()) {
      uring.want(request(operation));
    } else {
      attempt(operation);
    }
  }

  /** Submits the next operation, unless the kernel has one of this lane or the lane waits. */
  void goOn() {
    IoOperation<?> operation;
    boolean closed = handle.isClosed();
    while ((operation = nextOrdered()) != null && !isBlocked() && (!closed || finishes())) {
      if (!closed && queue.isSpent(handle.loop.turn(), handle.loop.options)) {
        handle.resumeNextTurn();
        return;
      }
      if (handle.receivesAhead() && operation.isRead()) {
        if (!receive(operation)) {
          return;
        }
      } else if (operation.isRequest()) {
        if (isUnderWay(operation) || !attemptAhead(operation)) {
          uring.want(request(operation)); // does nothing if it is under way
          return;
        }
      } else {
        attempt(operation);
      }
    }
  }

  /**
   * Makes system calls instead of requests that are not submitted yet, until one would have to
   * wait. Not for files, where calls block: those requests are left to the kernel.
   */
  // r[impl loop.fd.unwritten]
  void flush() {
    IoOperation<?> operation;
    while ((operation = queue.first()) != null && !isBlocked() && !handle.isRegularFile()) {
      UringOperation request = operation.request;
      if (request != null) {
        if (request.isWithKernel()) {
          return;
        }
        uring.withdraw(request);
      }
      attempt(operation);
    }
  }

  /** Whether started operations are finished even if the handle is closed or the loop ends. */
  private boolean finishes() {
    return !reads && handle.isRegularFile() && !queue.isPaused();
  }

  /** Reads data that was received ahead, if any; false if the operation has to wait for data. */
  private boolean receive(IoOperation<?> operation) {
    UringReceiver ahead = receiver();
    if (isUnderWay(operation)) {
      return false;
    }
    int failure = ahead.hasData() ? 0 : ahead.takeError();
    if (ahead.hasData() || failure != 0) {
      try {
        settle(operation, failure != 0 ? failure : ahead.fill(operation));
      } catch (RuntimeException | Error e) {
        fail(operation, e);
      }
      return true;
    }
    if (ahead.serves(operation)) {
      uring.want(ahead);
    } else if (uring.withdraw(ahead)) { // else it continues the lane when it has come back
      uring.want(request(operation));
    }
    return false;
  }

  private UringReceiver receiver() {
    UringReceiver known = receiver;
    if (known == null) {
      known = new UringReceiver(uring, owner, this);
      receiver = known;
    }
    return known;
  }

  /** The receiver has reached the end of the file. */
  void endOfFile() {
    IoOperation<?> operation = nextOrdered();
    if (operation != null && !isUnderWay(operation)) {
      settle(operation, 0);
    }
  }

  /** The receiver was told an error, which no write will be told. */
  void failed(int result) {
    handle.failed(-result);
  }

  /** Whether operations are queued. */
  boolean isWaitedFor() {
    return queue.first() != null;
  }

  boolean isClosed() {
    return handle.isClosed();
  }

  /** Makes the close a reset, which tells the peer that not all its data was read. */
  void resetOnClose() {
    try {
      Sockets.resetOnClose(handle.loop.sys, handle.fd.number());
    } catch (ErrnoException e) {
      // Then the peer takes the data for read, as if we had read and discarded it.
    }
  }

  private @Nullable IoOperation<?> nextOrdered() {
    IoOperation<?> operation = queue.first();
    while (operation != null && !operation.isOrdered()) {
      operation = operation.following;
    }
    return operation;
  }

  private boolean isBlocked() {
    return poll.isUnderWay() || queue.isPaused();
  }

  private void attempt(IoOperation<?> operation) {
    try {
      settle(operation, operation.attempt(handle.loop.sys));
    } catch (RuntimeException | Error e) {
      fail(operation, e);
    }
  }

  /** Makes a system call now if one is likely to succeed; false if it would have to wait. */
  private boolean attemptAhead(IoOperation<?> operation) {
    if (!operation.isCallWorthwhile()) {
      return false;
    }
    try {
      long result = operation.attempt(handle.loop.sys);
      if (result == -EAGAIN) {
        return false;
      }
      settle(operation, result);
    } catch (RuntimeException | Error e) {
      fail(operation, e);
    }
    return true;
  }

  private static boolean isUnderWay(IoOperation<?> operation) {
    return operation.request != null && operation.request.isUnderWay();
  }

  /** The operation failed in Java, for example because a buffer's arena is closed. */
  private void fail(IoOperation<?> operation, Throwable failure) {
    end(operation);
    operation.completeError(failure);
  }

  private UringOperation request(IoOperation<?> operation) {
    UringOperation known = operation.request;
    if (known == null) {
      known = new UringOperation(owner, this, operation);
      operation.request = known;
    }
    return known;
  }

  private void completed(UringOperation request, long result) {
    IoOperation<?> operation = request.operation;
    try {
      if (request.stopping) {
        request.stopping = false;
        stopped(operation, operation.judge(result));
      } else {
        settle(operation, result);
      }
    } catch (RuntimeException | Error e) {
      fail(operation, e);
    }
    if (operation.queued && !operation.isOrdered()) {
      uring.want(request);
    }
    goOn();
  }

  /** A cancelled operation has come back, with a value if it completed first. */
  private void stopped(IoOperation<?> operation, long result) {
    boolean complete = result >= 0 && operation.accept(result);
    end(operation);
    if (complete) {
      operation.completeValue();
    } else {
      operation.completeStopped();
    }
  }

  /** Acts on the result of a call; the operation stays queued until it is complete. */
  // r[impl loop.op.park] r[impl loop.err.transient]
  private void settle(IoOperation<?> operation, long raw) {
    long result = operation.judge(raw);
    if (result == -EAGAIN) {
      awaitReadiness(operation);
    } else if (result == IoOperation.LATER) {
      queue.retryLater(handle);
    } else if (result == -EOPNOTSUPP && operation.isRequest() && !handle.takesCallsOnly) {
      handle.takesCallsOnly = true; // a device without RWF_NOWAIT
    } else if (result >= 0) {
      events = 0;
      queue.spend(operation.bytesIn(result));
      boolean exhausted = // before accept changes what is wanted
          operation.exhausts(result) && handle.isEmptyAfterShortRead() && !handle.receivesAhead();
      if (operation.accept(result)) {
        end(operation);
        operation.completeValue();
      } else if (exhausted) {
        awaitReadiness(operation);
      }
    } else if (result != IoOperation.AGAIN) {
      end(operation);
      operation.fail(result);
    }
  }

  private void awaitReadiness(IoOperation<?> operation) {
    if (handle.isRegularFile() && !operation.aside) {
      operation.aside = true; // this file system needs a kernel thread to wait
    } else if (!operation.isOrdered() || (handle.isRegularFile() && handle.isClosed())) {
      end(operation);
      operation.fail(-EAGAIN);
    } else if (handle.isRegularFile() || events >= FRUITLESS) {
      queue.retryLater(handle);
    } else {
      uring.want(poll);
    }
  }

  private void readinessCame() {
    if (queue.first() != null) {
      events++;
    }
    goOn();
  }

  private void end(IoOperation<?> operation) {
    operation.aside = false;
    queue.remove(operation);
  }

  // r[impl loop.cancel.unlink] r[impl loop.cancel.stopped]
  void cancel(IoOperation<?> operation) {
    UringOperation request = operation.request;
    if (request != null && !uring.withdraw(request)) {
      request.stopping = true;
      return;
    }
    end(operation);
    operation.completeStopped();
    goOn();
    owner.mayBeUnused();
  }

  void cancelUnlessFinishing() {
    if (!finishes()) {
      cancelAll();
    }
  }

  void cancelAll() {
    // From the last to the first: otherwise each would let the next one start.
    IoOperation<?> operation = queue.last();
    while (operation != null) {
      IoOperation<?> before = operation.previous;
      cancel(operation);
      // A coroutine that blocks on a token's lock lets other operations end, even the previous one.
      operation = before == null || before.queued ? before : queue.last();
    }
  }

  void close() {
    cancelUnlessFinishing();
    queue.forgetRetry();
    uring.withdraw(poll);
    if (receiver != null) {
      receiver.close();
    }
  }

  /** An operation as a request. */
  static final class UringOperation extends UringRequest {
    private final UringLane lane;
    private final IoOperation<?> operation;

    /** Whether it was cancelled while the kernel had it. */
    private boolean stopping;

    private UringOperation(UringHandle owner, UringLane lane, IoOperation<?> operation) {
      super(owner);
      this.lane = lane;
      this.operation = operation;
    }

    @Override
    void prepare(SubmissionQueue queue, long token) {
      operation.prepare(queue, token);
    }

    @Override
    void completed(int result, int flags) {
      lane.completed(this, result);
    }

    @Override
    void failed(Throwable failure) {
      lane.fail(operation, failure);
      lane.goOn();
    }
  }

  /** Reports when a call is worth another attempt. */
  private static final class ReadinessPoll extends UringRequest {
    private final UringLane lane;
    private final int interest;

    ReadinessPoll(UringHandle owner, UringLane lane, int interest) {
      super(owner);
      this.lane = lane;
      this.interest = interest;
    }

    @Override
    void prepare(SubmissionQueue queue, long token) {
      queue.poll(token, Objects.requireNonNull(owner).handle.fd.number(), interest);
    }

    @Override
    void completed(int result, int flags) {
      lane.readinessCame();
    }

    @Override
    void failed(Throwable failure) {
      throw new IllegalStateException("cannot wait for " + lane.handle.what(), failure);
    }
  }
}
