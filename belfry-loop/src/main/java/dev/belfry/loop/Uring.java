package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EBUSY;
import static dev.belfry.linux.Errno.ECANCELED;
import static dev.belfry.linux.Errno.EINTR;
import static dev.belfry.linux.Errno.EIO;
import static dev.belfry.linux.Errno.ETIME;

import dev.belfry.linux.CompletionQueue;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.IoUring;
import dev.belfry.linux.SubmissionQueue;
import dev.belfry.linux.Sys;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Submits requests to the kernel and receives their completions. There is one shared ring, which
 * any thread may use, one at a time, just as any thread may drive the loop. While a thread {@link
 * #stay stays}, it has a ring of its own, which is faster. Requests move from one ring to the
 * other: they are cancelled on one and written to the other, which their owners do not notice.
 */
final class Uring implements AutoCloseable {
  private static final int REQUESTS = 256;
  private static final int ANSWERS = 4096;

  /** The shared ring is smaller, because unprivileged users may lock little memory for rings. */
  private static final int SHARED_REQUESTS = 64;

  private static final int SHARED_ANSWERS = 512;

  /** The token of requests whose completion does not matter. */
  private static final long NO_TOKEN = 0;

  /** How long to wait for cancelled requests before cancelling them again. */
  private static final long WITHDRAWAL_NANOS = 10_000_000;

  /** How long to wait for memory before submitting requests again. */
  private static final long SHORTAGE_NANOS = 1_000_000;

  private final Sys sys;
  private final IoUring shared;

  /** The ring in use: the shared one, or that of the staying thread. */
  private IoUring ring;

  /** Created when first needed. */
  private @Nullable ReceiveBuffers buffers;

  /** Whether the kernel can receive ahead of reads; true until the contrary is known. */
  boolean receivesAhead = true;

  private final UringTable table = new UringTable();
  private final ArrayDeque<UringRequest> queue = new ArrayDeque<>();

  /** The tokens of requests to be cancelled. */
  private long[] withdrawals = new long[16];

  private int withdrawalCount;

  /** Whether the kernel lacked the memory for requests when it was last entered. */
  private boolean lacksMemory;

  private boolean closed;

  private Uring(Sys sys, IoUring shared) {
    this.sys = sys;
    this.shared = shared;
    this.ring = shared;
  }

  static Uring open(Sys sys) throws ErrnoException {
    return new Uring(
        sys, IoUring.open(sys, IoUring.Use.ANY_THREAD, SHARED_REQUESTS, SHARED_ANSWERS));
  }

  /** Submits a request before the next wait, unless it is under way already. */
  void want(UringRequest request) {
    if (request.isUnderWay()) {
      return;
    }
    request.wanted = true;
    if (!request.queued) {
      request.queued = true;
      queue.add(request);
    }
  }

  /**
   * Withdraws a request.
   *
   * @return true if the kernel does not have it; otherwise its last completion is still to come
   */
  boolean withdraw(UringRequest request) {
    request.wanted = false;
    if (!request.isWithKernel()) {
      return true;
    }
    if (!request.withdrawn) {
      request.withdrawn = true;
      addWithdrawal(table.token(request));
    }
    return false;
  }

  private void addWithdrawal(long token) {
    if (withdrawalCount == withdrawals.length) {
      withdrawals = Arrays.copyOf(withdrawals, withdrawalCount * 2);
    }
    withdrawals[withdrawalCount++] = token;
  }

  /** The descriptor that is readable while there are completions; for use without {@link #stay}. */
  int number() {
    return shared.number();
  }

  /** Whether there is something to submit. */
  boolean hasRequests() {
    return withdrawalCount > 0 || !queue.isEmpty();
  }

  /**
   * Submits the wanted requests, waits until the deadline at the latest, and handles completions.
   *
   * @return the number of completions, including requests that could not be written and have failed
   */
  // r[impl loop.wait.eintr] r[impl loop.err.unexpected]
  int turn(long deadline) throws ErrnoException {
    int failed = write();
    if (deadline == Driver.NOW || failed > 0 || hasRequests()) {
      if (ring.hasWork()) {
        enter(0, 0);
      }
    } else {
      await(deadline);
    }
    int ended = failed + reap();
    if (lacksMemory && ended == 0 && deadline != Driver.NOW) {
      enter(1, Driver.timeLeft(retry(deadline))); // there is nothing to submit now
      ended = reap();
    }
    return ended;
  }

  /** Whether a new attempt to submit is better made after a pause. */
  boolean lacksMemory() {
    return lacksMemory;
  }

  /** When to make it: soon, or at the deadline of a wait if that is earlier. */
  static long retry(long deadline) {
    long soon = System.nanoTime() + SHORTAGE_NANOS;
    return deadline == Driver.FOREVER || soon - deadline < 0 ? soon : deadline;
  }

  private void await(long deadline) throws ErrnoException {
    int result;
    do {
      result = enter(1, deadline == Driver.FOREVER ? IoUring.FOREVER : Driver.timeLeft(deadline));
      // If requests were submitted, the kernel does not report that the wait was interrupted.
    } while ((result == -EINTR || result > 0) && !hasRequests() && ring.completions().isEmpty());
  }

  /** Writes the wanted requests, as far as there is room; returns how many have failed. */
  // r[impl loop.wait.flush-first]
  private int write() {
    SubmissionQueue submissions = ring.submissions();
    while (withdrawalCount > 0 && !submissions.isFull()) {
      long target = withdrawals[--withdrawalCount];
      submissions.cancel(~target, target); // no request has such a token
    }
    int failed = 0;
    UringRequest request;
    while (!submissions.isFull() && (request = queue.poll()) != null) {
      request.queued = false;
      if (request.wanted) {
        request.wanted = false;
        failed += write(request, submissions) ? 0 : 1;
      }
    }
    return failed;
  }

  private boolean write(UringRequest request, SubmissionQueue submissions) {
    long token = table.add(request);
    if (request.owner != null) {
      request.owner.kernelTook();
    }
    try {
      request.prepare(submissions, token);
      return true;
    } catch (RuntimeException | Error e) { // such as a buffer whose arena is closed
      table.remove(request);
      request.failed(e);
      cameBack(request);
      return false;
    }
  }

  private static void cameBack(UringRequest request) {
    if (request.owner != null) {
      request.owner.kernelGaveBack();
    }
  }

  private int enter(int atLeast, long timeoutNanos) throws ErrnoException {
    int result = ring.enter(atLeast, timeoutNanos);
    lacksMemory = result == -EAGAIN;
    takeBackUntaken();
    if (result < 0) {
      switch (-result) {
        // Lack of memory or of room for completions is temporary.
        case EINTR, ETIME, EAGAIN, EBUSY -> {}
        default -> throw new ErrnoException("io_uring_enter", -result, "io_uring");
      }
    }
    return result;
  }

  /**
   * Takes back the entries that the kernel has not consumed, to be written again later. Until then,
   * the memory they refer to may be freed, or a system call be made instead.
   */
  // r[impl loop.err.transient]
  private void takeBackUntaken() {
    SubmissionQueue submissions = ring.submissions();
    while (submissions.size() > 0) {
      long token = submissions.takeBack();
      UringRequest request = table.find(token);
      if (request != null) {
        completed(request, -ECANCELED, 0);
      } else if (token != NO_TOKEN) {
        addWithdrawal(~token);
      }
    }
  }

  private int reap() {
    CompletionQueue completions = ring.completions();
    int count = 0;
    while (completions.next()) {
      UringRequest request = table.find(completions.token());
      if (request != null) {
        count++;
        completed(request, completions.result(), completions.flags());
      }
    }
    return count;
  }

  private void completed(UringRequest request, int result, int flags) {
    if (CompletionQueue.hasMore(flags)) {
      request.completed(result, flags);
      return;
    }
    boolean withdrawn = request.withdrawn;
    table.remove(request);
    if (result == -ECANCELED && !withdrawn) {
      want(request); // not consumed, or its thread has ended, or we are changing rings
    } else {
      request.completed(result, flags);
    }
    cameBack(request);
  }

  /** Only the calling thread will use this ring, until it {@link #leave leaves}. */
  void stay() throws ErrnoException {
    IoUring own;
    try {
      own = IoUring.open(sys, IoUring.Use.OPENING_THREAD, REQUESTS, ANSWERS);
    } catch (ErrnoException notHere) {
      return; // an old kernel or a limit: the shared ring will do
    }
    own.registerForThisThread();
    try {
      moveTo(own);
    } catch (ErrnoException e) {
      own.close();
      throw e;
    }
  }

  /** The calling thread no longer stays. */
  void leave() {
    IoUring own = ring;
    if (own != shared) {
      try {
        moveTo(shared);
      } catch (ErrnoException e) {
        giveUp();
        ring = shared;
      }
      own.close();
    }
  }

  private void moveTo(IoUring other) throws ErrnoException {
    withdrawAll();
    if (buffers != null) {
      buffers.takeBack();
    }
    ring = other;
  }

  ReceiveBuffers buffers() {
    ReceiveBuffers known = buffers;
    if (known == null) {
      known = new ReceiveBuffers();
      buffers = known;
    }
    return known;
  }

  /** The buffer group for requests to receive. */
  int bufferGroup() {
    try {
      return buffers().groupFor(sys, ring);
    } catch (ErrnoException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gets all requests back from the kernel; those that were not withdrawn are queued again. */
  private void withdrawAll() throws ErrnoException {
    while (table.size() > 0) {
      SubmissionQueue submissions = ring.submissions();
      for (int slot = 0; slot < table.slots() && !submissions.isFull(); slot++) {
        UringRequest request = table.at(slot);
        if (request != null) {
          submissions.cancel(NO_TOKEN, table.token(request));
        }
      }
      enter(0, 0);
      if (reap() == 0) {
        enter(1, WITHDRAWAL_NANOS); // for requests that a kernel thread works on
        reap();
      }
    }
  }

  /** Gets all requests back from the kernel, for good. If the ring no longer works, they fail. */
  void takeBack() {
    try {
      withdrawAll();
    } catch (ErrnoException e) {
      giveUp();
    }
  }

  /** The ring no longer works: fails all requests that it has. */
  private void giveUp() {
    if (buffers != null) {
      buffers.takeBack();
    }
    for (int slot = 0; slot < table.slots(); slot++) {
      UringRequest request = table.at(slot);
      if (request != null) {
        table.remove(request);
        request.completed(-EIO, 0); // the ring's own errno would look like the operation's
        cameBack(request);
      }
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    takeBack();
    ring.close();
  }
}
