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
 * Brings requests to the kernel and their completions back. There is one ring that any thread may
 * use, one after the other, just as they may drive the loop; and, while a thread {@link #stay
 * stays}, a ring of its own, which is faster. Requests move from one to the other: they are
 * withdrawn from the one and written to the other, and nobody else notices.
 */
final class Uring implements AutoCloseable {
  private static final int REQUESTS = 256;
  private static final int ANSWERS = 4096;

  /** The shared ring is smaller, as an ordinary user may lock little memory for rings. */
  private static final int SHARED_REQUESTS = 64;

  private static final int SHARED_ANSWERS = 512;

  /** Marks what nobody waits for. */
  private static final long NO_TOKEN = 0;

  /** How long to wait for what was withdrawn before the kernel is told again. */
  private static final long WITHDRAWAL_NANOS = 10_000_000;

  private final Sys sys;
  private final IoUring shared;

  /** The ring in use: the shared one or that of the thread that stays. */
  private IoUring ring;

  /** Made when they are first needed. */
  private @Nullable ReceiveBuffers buffers;

  /** Whether the kernel can receive before anybody reads; true until the contrary is known. */
  boolean receivesAhead = true;

  private final UringTable table = new UringTable();
  private final ArrayDeque<UringRequest> queue = new ArrayDeque<>();

  /** The tokens of requests that the kernel is to give back. */
  private long[] withdrawals = new long[16];

  private int withdrawalCount;
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

  /** Has a request written before the next wait, unless it is under way. */
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
   * Takes a request back.
   *
   * @return whether that is done; else its last completion is still to come
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

  /** The descriptor that is readable while there are completions, for threads that do not stay. */
  int number() {
    return shared.number();
  }

  /** Whether there is something to hand over. */
  boolean hasRequests() {
    return withdrawalCount > 0 || !queue.isEmpty();
  }

  /**
   * Hands over what is wanted, waits until a time at the latest, and deals with completions.
   *
   * @return how many there were, counting what could not be handed over and has failed
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
    return failed + reap();
  }

  private void await(long deadline) throws ErrnoException {
    int result;
    do {
      result = enter(1, deadline == Driver.FOREVER ? IoUring.FOREVER : Driver.timeLeft(deadline));
      // Where something was handed over, the kernel does not say that the wait was interrupted.
    } while ((result == -EINTR || result > 0) && !hasRequests() && ring.completions().isEmpty());
  }

  /** Writes what is wanted, as far as there is room; says how much of it has failed instead. */
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
    } catch (RuntimeException | Error e) { // such as for a buffer whose arena is closed
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
    takeBackUntaken();
    if (result < 0) {
      switch (-result) {
        // Shortages of memory and of room for completions pass.
        case EINTR, ETIME, EAGAIN, EBUSY -> {}
        default -> throw new ErrnoException("io_uring_enter", -result, "io_uring");
      }
    }
    return result;
  }

  /**
   * Takes back what the kernel has not taken, to be written again. Until then the memory that it
   * names may be freed, or a call be made in its place.
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
      want(request); // not taken; or the thread that wrote it has ended, or we move to another ring
    } else {
      request.completed(result, flags);
    }
    cameBack(request);
  }

  /** Only the calling thread will use this, until it {@link #leave leaves}. */
  void stay() throws ErrnoException {
    IoUring own;
    try {
      own = IoUring.open(sys, IoUring.Use.OPENING_THREAD, REQUESTS, ANSWERS);
    } catch (ErrnoException notHere) {
      return; // an old kernel or a limit: the shared one will do
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

  /** The group of buffers that requests to receive name. */
  int bufferGroup() {
    try {
      return buffers().groupFor(sys, ring);
    } catch (ErrnoException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gets everything back from the kernel; what nobody wanted to withdraw is wanted again. */
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
        enter(1, WITHDRAWAL_NANOS); // for what a kernel thread has begun
        reap();
      }
    }
  }

  /**
   * Gets everything back from the kernel, for good; if it does not answer any more, what it has
   * fails.
   */
  void takeBack() {
    try {
      withdrawAll();
    } catch (ErrnoException e) {
      giveUp();
    }
  }

  /** The ring does not answer any more: what it has fails. */
  private void giveUp() {
    if (buffers != null) {
      buffers.takeBack();
    }
    for (int slot = 0; slot < table.slots(); slot++) {
      UringRequest request = table.at(slot);
      if (request != null) {
        table.remove(request);
        request.completed(-EIO, 0); // the ring's errno would be taken for the operation's
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
