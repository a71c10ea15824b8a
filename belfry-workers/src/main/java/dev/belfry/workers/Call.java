package dev.belfry.workers;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A call in progress. It ends exactly once, however many threads try to end it. */
final class Call implements StartedCall {
  private static final VarHandle RESULT;

  /** The result of a cancelled call. */
  private static final Object CANCELLED = new Object();

  static {
    try {
      RESULT = MethodHandles.lookup().findVarHandle(Call.class, "result", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final String method;
  final long methodId;
  final byte[] payload;
  final CallOptions options;
  final long startNanos = System.nanoTime();
  final long deadlineNanos;

  /** When the clock was last read; belongs to the thread that currently handles the call. */
  private long nowNanos = startNanos;

  /**
   * How many workers it was given to; written by the thread that adds it to a table or removes it.
   */
  private int attempts;

  /** The thread that waits for it, or last did; null if none has. */
  private volatile @Nullable Thread waiter;

  /**
   * Whether its end must be signalled, to a sleeping thread or to a future. If not, its answer may
   * lie unread in the ring until the caller fetches it. Once true, stays true.
   */
  private volatile boolean noticeWanted;

  /** The future to complete, if the call was submitted. */
  private final @Nullable CompletableFuture<byte[]> future;

  /** Where it is; stale as soon as it is read, because the call may move. */
  private volatile @Nullable Place place;

  /** Counts how calls end. */
  private final CallMeter meter;

  /**
   * The answer, or why there is none: a {@link CallException} or {@link #CANCELLED}; null until it
   * ends.
   */
  private volatile @Nullable Object result;

  /** A worker, and the id that the call has there. */
  record Place(PooledWorker worker, long id) {}

  /**
   * Creates a call.
   *
   * @param waiter the thread that waits for it from the start, if any
   * @param future the future to complete, if any
   */
  Call(
      String method,
      long methodId,
      byte[] payload,
      CallOptions options,
      @Nullable Thread waiter,
      @Nullable CompletableFuture<byte[]> future,
      CallMeter meter) {
    this.method = method;
    this.methodId = methodId;
    this.payload = payload;
    this.options = options;
    this.deadlineNanos = startNanos + options.deadline().toNanos();
    this.future = future;
    this.meter = meter;
    this.waiter = waiter;
    this.noticeWanted = waiter != null || future != null;
  }

  /** Whether the current thread waits for it. */
  boolean isMine() {
    return waiter == Thread.currentThread();
  }

  @Override
  public boolean isDone() {
    return result != null;
  }

  /**
   * Whether a platform thread may be waiting for it, which can receive answers even while it
   * sleeps.
   */
  boolean isAwaited() {
    Thread waiting = waiter;
    return waiting != null && !waiting.isVirtual() && !isDone();
  }

  boolean isNoticeWanted() {
    return noticeWanted;
  }

  @Nullable Place place() {
    return place;
  }

  /** Records the worker that it is given to. */
  void place(PooledWorker worker, long id) {
    attempts++;
    place = new Place(worker, id);
  }

  int attempts() {
    return attempts;
  }

  /**
   * Takes back an attempt of which the worker has seen nothing. Only for the thread that has
   * removed the call from the table again, and so has it to itself.
   */
  void wasNotTried() {
    attempts--;
  }

  /** Reads the clock again after a wait. */
  void hasWaited() {
    nowNanos = System.nanoTime();
  }

  /** The time left, in whole milliseconds; at least one. */
  int timeLeftMillis() {
    long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - nowNanos);
    return Math.clamp(left, 1, Integer.MAX_VALUE);
  }

  boolean isOverdue() {
    return System.nanoTime() - deadlineNanos >= 0;
  }

  /** Ends it with an answer; false if it had already ended. */
  boolean succeed(byte[] answer) {
    if (!RESULT.compareAndSet(this, null, answer)) {
      return false;
    }
    meter.finished();
    if (future != null) {
      var _ = future.completeAsync(() -> answer); // dependents must not run on the loop
    }
    wake();
    return true;
  }

  /** Ends it without an answer; false if it had already ended. */
  boolean fail(CallException reason) {
    if (!RESULT.compareAndSet(this, null, reason)) {
      return false;
    }
    meter.failed(reason);
    if (future != null) {
      var _ = CompletableFuture.runAsync(() -> future.completeExceptionally(reason));
    }
    wake();
    return true;
  }

  /** Ends it because its caller no longer wants the answer. */
  @Override
  public void cancel() {
    if (RESULT.compareAndSet(this, null, CANCELLED)) {
      meter.cancelled();
      abandon();
      wake();
    }
  }

  /** Ends it because its deadline has passed. */
  void failOverdue() {
    if (fail(DeadlinePassed.noAnswer(this))) {
      abandon();
    }
  }

  /** Tells its worker, if it has one, that the answer is no longer wanted. */
  private void abandon() {
    Place at = place;
    if (at != null) {
      at.worker().calls().giveUp(at.id());
    }
  }

  private void wake() {
    Thread waiting = waiter;
    if (waiting != null && waiting != Thread.currentThread()) {
      LockSupport.unpark(waiting);
    }
  }

  /** Wakes the waiter to look again. */
  void nudge() {
    wake();
  }

  @Override
  public byte[] await() throws CallException, InterruptedException {
    if (waiter != Thread.currentThread()) {
      waiter = Thread.currentThread(); // then read the result; its writer reads this afterwards
    }
    while (!isDone()) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      awaitSomething();
      if (!isDone()) { // otherwise reading the clock would cost more than all the rest
        hasWaited();
        if (nowNanos - deadlineNanos >= 0) {
          failOverdue();
        }
      }
    }
    return answer();
  }

  /** Waits for its end or a nudge, without sleeping if possible. May return spuriously. */
  private void awaitSomething() {
    Place at = place;
    if (at != null && at.worker().calls().await(this)) {
      return;
    }
    if (!noticeWanted) {
      noticeWanted = true; // then read the place; its writer reads this afterwards
      at = place;
      if (at != null) {
        at.worker().calls().wantNotice(at.id());
      }
    } else {
      long began = System.nanoTime();
      LockSupport.parkNanos(this, deadlineNanos - began);
      if (at != null && isDone()) {
        at.worker().calls().slept(System.nanoTime() - began);
      }
    }
  }

  private byte[] answer() throws CallException {
    Object ended = result;
    if (ended instanceof byte[] answer) {
      return answer;
    }
    if (ended instanceof CallException reason) {
      reason.fillInStackTrace(); // it may be of the pool's thread, which is of no use to the caller
      throw reason;
    }
    throw new CancellationException(this + " was cancelled");
  }

  @Override
  public String toString() {
    return "call to '" + method + "'";
  }
}
