package dev.belfry.workers;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A call on its way. It ends exactly once, whoever tries. */
final class Call implements StartedCall {
  private static final VarHandle RESULT;

  /** The result of a call that nobody wanted any more. */
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

  /** When somebody last looked at the clock; belongs to whoever has the call in hand. */
  private long nowNanos = startNanos;

  /** How often it was given to a worker; written by whoever adds it to a table or takes it out. */
  private int attempts;

  /** The thread that waits for it, or last did, if any. */
  private volatile @Nullable Thread waiter;

  /**
   * Whether somebody is to be told of its end: a thread that sleeps until then, or a future. If
   * not, its answer may lie unread until somebody comes for it. Once true, stays true.
   */
  private volatile boolean noticeWanted;

  /** The future that it completes, if it was submitted. */
  private final @Nullable CompletableFuture<byte[]> future;

  /** Where it is; by the time this is read, it may be elsewhere. */
  private volatile @Nullable Place place;

  /** How it is counted. */
  private final CallMeter meter;

  /** The answer, or why there is none: a {@link CallException} or {@link #CANCELLED}. */
  private volatile @Nullable Object result;

  /** A worker and the id that the call has there. */
  record Place(PooledWorker worker, long id) {}

  /**
   * A call.
   *
   * @param waiter the thread that waits for it from the beginning
   * @param future what it completes
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

  /** Whether it is this thread that waits for it. */
  boolean isMine() {
    return waiter == Thread.currentThread();
  }

  @Override
  public boolean isDone() {
    return result != null;
  }

  /** Whether a thread may be waiting for it that can look for answers while it sleeps. */
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

  /** It is given to a worker. */
  void place(PooledWorker worker, long id) {
    attempts++;
    place = new Place(worker, id);
  }

  int attempts() {
    return attempts;
  }

  /**
   * The worker that it was given to has seen nothing of it. Called by whoever has taken it out of
   * the table again, and so has it alone.
   */
  void wasNotTried() {
    attempts--;
  }

  /** It has waited for something. */
  void hasWaited() {
    nowNanos = System.nanoTime();
  }

  /** How long there is left for it, in whole milliseconds and at least one. */
  int timeLeftMillis() {
    long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - nowNanos);
    return Math.clamp(left, 1, Integer.MAX_VALUE);
  }

  boolean isOverdue() {
    return System.nanoTime() - deadlineNanos >= 0;
  }

  /** Ends it with an answer. */
  boolean succeed(byte[] answer) {
    if (!RESULT.compareAndSet(this, null, answer)) {
      return false;
    }
    meter.finished();
    if (future != null) {
      var _ = future.completeAsync(() -> answer); // not on the loop, which has other things to do
    }
    wake();
    return true;
  }

  /** Ends it without an answer. */
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

  /** Ends it because its caller has gone. */
  @Override
  public void cancel() {
    if (RESULT.compareAndSet(this, null, CANCELLED)) {
      meter.cancelled();
      abandon();
      wake();
    }
  }

  /** Ends it because its time is over. */
  void failOverdue() {
    if (fail(DeadlinePassed.noAnswer(this))) {
      abandon();
    }
  }

  /** Nobody waits for it any more: its worker, if it has one, is told. */
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

  /** Lets whoever waits look around. */
  void nudge() {
    wake();
  }

  @Override
  public byte[] await() throws CallException, InterruptedException {
    if (waiter != Thread.currentThread()) {
      waiter = Thread.currentThread(); // then look at the result; its writer looks here afterwards
    }
    while (!isDone()) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      awaitSomething();
      if (!isDone()) { // else a look at the clock would take longer than anything else here
        hasWaited();
        if (nowNanos - deadlineNanos >= 0) {
          failOverdue();
        }
      }
    }
    return answer();
  }

  /** Waits until it ends or something happens to it, without sleeping if possible. */
  private void awaitSomething() {
    Place at = place;
    if (at != null && at.worker().calls().await(this)) {
      return;
    }
    if (!noticeWanted) {
      noticeWanted = true; // then look at the place; its writer looks here afterwards
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
