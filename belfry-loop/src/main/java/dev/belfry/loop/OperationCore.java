package dev.belfry.loop;

import static dev.belfry.loop.Outcome.ERROR;
import static dev.belfry.loop.Outcome.STOPPED;
import static dev.belfry.loop.Outcome.VALUE;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The internals of an operation: its way from a start to its single completion, whichever threads
 * start, cancel and await it meanwhile. Loops, drivers and the kinds of operations use this class;
 * {@link Operation} is the public side.
 *
 * @param <T> the type of its value
 */
abstract sealed class OperationCore<T> extends Task permits Operation {
  private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), "state", int.class);
  private static final VarHandle STARTS =
      FieldHandle.of(MethodHandles.lookup(), "starts", long.class);

  /** Not started, or completed: may be started. */
  private static final int IDLE = 0;

  /** Started by some thread; the loop has not seen it yet. */
  private static final int STARTED = 1;

  /** In progress on the loop. */
  private static final int ACTIVE = 2;

  /** Has its result; the completion is in the loop's queue. */
  private static final int COMPLETED = 3;

  /** Has its result, which the awaiting thread is about to take. */
  private static final int AWAITED = 4;

  final EventLoop loop;

  /**
   * One of the above. The starting thread goes from IDLE to STARTED, and an awaiting one from
   * AWAITED to IDLE; the loop does the rest.
   */
  private volatile int state;

  /** Counts the starts, to tell a late cancel from one meant for the current start. */
  private long starts;

  /** A start that was cancelled before it became ACTIVE; loop thread only. */
  private long cancelled;

  // Written by the starting thread before it posts the operation, then by the loop only.
  private @Nullable Completion<? super T> completion;
  private @Nullable Thread awaiter;
  private StopToken token = StopToken.NEVER;

  /** Started by another thread after the stop was requested, noticed by the loop or not. */
  private boolean late;

  private @Nullable Canceller canceller;

  // How it ended; null until that is known.
  @Nullable Outcome outcome;
  @Nullable Throwable error;

  OperationCore(EventLoop loop) {
    this.loop = loop;
  }

  // For its users.

  /** Starts the operation, for a callback or for a waiting thread. */
  final void start(
      @Nullable Completion<? super T> callback, @Nullable Thread waiter, StopToken stop) {
    // r[impl loop.mt.lifetime] r[impl loop.backend.single-shot]
    boolean inLoop = loop.inLoop();
    if (inLoop ? !loop.bearsStart() : loop.ended && !LateCompletions.bearStart()) {
      throw new IllegalStateException(
          "the loop was stopped, and work is started on it again and again: " + this);
    }
    if (!claim(inLoop)) {
      throw new IllegalStateException(this + " was started and has not completed yet");
    }
    STARTS.setOpaque(this, starts + 1); // no other thread can start it now
    if (completion != callback) { // most operations are restarted unchanged
      completion = callback;
    }
    if (waiter != null) {
      awaiter = waiter;
    }
    if (token != stop) {
      token = stop;
    }
    if (callback instanceof OperationFuture<?> future) {
      future.start = starts;
    }
    late = !inLoop && loop.isStopRequested() && !isInternal();
    prepare(inLoop);
    if (inLoop) {
      begin(false);
    } else {
      loop.post(this);
    }
  }

  /** The loop thread needs no atomic instruction: only one thread at a time may start it. */
  private boolean claim(boolean inLoop) {
    if (!inLoop) {
      return STATE.compareAndSet(this, IDLE, STARTED);
    }
    if (state != IDLE) {
      return false;
    }
    STATE.setRelease(this, STARTED);
    return true;
  }

  /** Rejects a change meant for the next start while a start is in flight. */
  final void requireIdle() {
    if (state != IDLE) {
      throw new IllegalStateException(this + " was started and has not completed yet");
    }
  }

  /** Starts the operation and waits for it; an interrupt cancels it and stays pending. */
  final void startAndWait(StopToken stop) {
    Thread thread = Thread.currentThread();
    // r[impl loop.cancel.before-start]
    start(null, thread, thread.isInterrupted() ? StopToken.FIRED : stop);
    boolean interrupted = false;
    while (state != AWAITED) {
      if (Thread.interrupted()) {
        interrupted = true;
        cancelLatest();
      } else {
        LockSupport.park(this);
      }
    }
    STATE.setRelease(this, IDLE);
    if (interrupted) {
      thread.interrupt();
    }
  }

  /** Cancels the start in flight, if any. */
  final void cancelLatest() {
    cancel((long) STARTS.getOpaque(this));
  }

  /** Cancels the given start, if it is the one in flight. */
  final void cancel(long start) {
    if (state == IDLE) {
      return;
    }
    if (loop.inLoop()) {
      cancelNow(start);
    } else {
      canceller().request(start);
    }
  }

  /** Whether a token may stop it. */
  final boolean hasToken() {
    return token != StopToken.NEVER;
  }

  // For the kinds of operations.

  /** Calls the callback. */
  abstract void tell(Completion<? super T> callback);

  @Override
  boolean isScheduledWork() {
    return false;
  }

  /** Whether it serves another operation in flight, so that even a stopped loop accepts it. */
  boolean isInternal() {
    return false;
  }

  /** Called by the starting thread before the loop sees the start. */
  void prepare(boolean inLoop) {}

  /** Begins the work; on the loop thread. It ends in one of the complete methods. */
  abstract void launch();

  /** Cancels the work; on the loop thread, while it is in flight. */
  abstract void withdraw();

  /** Whether it waits for nothing but its turn in the queue. */
  boolean isDoneByTurn() {
    return false;
  }

  /** Called when the loop takes this ACTIVE operation from a queue that it was put into. */
  void turnCame() {
    throw new IllegalStateException(this + " did not queue itself");
  }

  // Its way through the loop.

  /** Called when the loop takes this task from one of its queues. */
  @Override
  public final void run() {
    switch (state) {
      case STARTED -> begin(true);
      case ACTIVE -> turnCame();
      default -> deliver();
    }
  }

  @Override
  final void abandoned() {
    outcome = STOPPED;
    error = null;
    if (awaiter != null || completion instanceof OperationFuture) {
      finish(); // the caller may wait for it, or holds a future no other thread knows
    } else {
      LateCompletions.add(this);
    }
  }

  // r[impl loop.cancel.before-start]
  private void begin(boolean inTurn) {
    outcome = null;
    error = null;
    loop.operationBegun();
    // Registering with the token may block on its lock; if a coroutine blocks, the loop goes on
    // meanwhile. So the state stays STARTED until then, and a cancel that comes in between is only
    // recorded in 'cancelled'.
    boolean watched =
        !late && !token.isStopRequested() && (loop.takesWork() || isInternal()) && watchToken();
    STATE.setRelease(this, ACTIVE);
    if (!watched || cancelled == starts) {
      complete(STOPPED, null);
      return;
    }
    if (inTurn && isDoneByTurn()) {
      completeInTurn(VALUE);
      return;
    }
    try {
      launch();
    } catch (RuntimeException | Error e) {
      completeError(e); // such as a buffer whose arena is closed
    }
  }

  private boolean watchToken() {
    return token == StopToken.NEVER || canceller().watch(token, starts);
  }

  // r[impl loop.op.value]
  final void completeValue() {
    complete(VALUE, null);
  }

  final void completeError(Throwable failure) {
    complete(ERROR, failure);
  }

  final void completeStopped() {
    complete(STOPPED, null);
  }

  final boolean isActive() {
    return state == ACTIVE;
  }

  // r[impl loop.backend.single-shot]
  private void complete(Outcome how, @Nullable Throwable failure) {
    settle(how, failure);
    if (awaiter != null) {
      deliver();
    } else {
      loop.work.addCompletion(this);
    }
  }

  /** Completes and delivers in one step, for an operation whose turn in the queue has come. */
  final void completeInTurn(Outcome how) {
    settle(how, null);
    deliver();
  }

  private void settle(Outcome how, @Nullable Throwable failure) {
    STATE.setRelease(this, COMPLETED); // first: blocking on the token's lock may let a cancel in
    if (token != StopToken.NEVER && canceller != null) {
      token.unregister(canceller);
    }
    outcome = how;
    error = failure;
  }

  private void deliver() {
    loop.operationEnded();
    finish();
  }

  /** Hands the result over; from here on the operation may be started again. */
  final void finish() {
    Thread waiting = awaiter;
    Completion<? super T> callback = completion;
    if (waiting != null) {
      awaiter = null;
      STATE.setRelease(this, AWAITED);
      if (waiting != Thread.currentThread()) {
        LockSupport.unpark(waiting);
      }
    } else {
      STATE.setRelease(this, IDLE);
      if (callback != null) {
        tell(callback);
      }
    }
  }

  /** Cancels the given start, if it is the one in flight; on the loop thread. */
  final void cancelNow(long start) {
    if (start != starts) {
      return;
    }
    if (state == ACTIVE) {
      withdraw();
    } else if (state == STARTED) {
      cancelled = start;
    }
  }

  private synchronized Canceller canceller() {
    Canceller known = canceller;
    if (known == null) {
      known = new Canceller(this);
      canceller = known;
    }
    return known;
  }
}
