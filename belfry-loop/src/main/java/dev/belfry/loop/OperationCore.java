package dev.belfry.loop;

import static dev.belfry.loop.Outcome.ERROR;
import static dev.belfry.loop.Outcome.STOPPED;
import static dev.belfry.loop.Outcome.VALUE;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The inside of an operation: how it gets from a start to its one completion, whoever starts,
 * cancels and awaits it meanwhile. Loops, drivers and the kinds of operations work with this;
 * {@link Operation} is what others see.
 *
 * @param <T> the type of its value
 */
abstract sealed class OperationCore<T> extends Task permits Operation {
  private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), "state", int.class);
  private static final VarHandle STARTS =
      FieldHandle.of(MethodHandles.lookup(), "starts", long.class);

  /** Not started, or completed: may be started. */
  private static final int IDLE = 0;

  /** Started by some thread, not yet seen by the loop. */
  private static final int STARTED = 1;

  /** Being worked on by the loop. */
  private static final int ACTIVE = 2;

  /** Has its result; the completion waits in the loop's queue. */
  private static final int COMPLETED = 3;

  /** Has its result; whoever awaits it takes it. */
  private static final int AWAITED = 4;

  final EventLoop loop;

  /** One of the above. IDLE to STARTED by whoever starts it, the rest by the loop. */
  private volatile int state;

  /** How often it was started; tells a late cancel from one that is meant for this start. */
  private long starts;

  /** A start that was cancelled before the loop saw it; the loop thread's. */
  private long cancelled;

  // Written by the starter before STARTED is posted, then by the loop only.
  private @Nullable Completion<? super T> completion;
  private @Nullable Thread awaiter;
  private StopToken token = StopToken.NEVER;

  /**
   * Started by a thread that could know of the loop's stop, though the loop had not seen that yet.
   */
  private boolean late;

  private @Nullable Canceller canceller;

  // How it ended; null while that is not known.
  @Nullable Outcome outcome;
  @Nullable Throwable error;

  OperationCore(EventLoop loop) {
    this.loop = loop;
  }

  // What its users want.

  /** Starts, for a callback or for a thread that waits. */
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
    STARTS.setOpaque(this, starts + 1); // no other thread starts it meanwhile
    if (completion != callback) { // most operations are started again as they were
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

  /** The loop thread needs no costly instruction for it: only one thread may start it at a time. */
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

  /** Refuses a change that is meant for the next start, as long as one is in flight. */
  final void requireIdle() {
    if (state != IDLE) {
      throw new IllegalStateException(this + " was started and has not completed yet");
    }
  }

  /** Starts, and returns when it has completed; an interrupt meanwhile cancels it and is kept. */
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

  /** Withdraws the start that is in flight, if there is one. */
  final void cancelLatest() {
    cancel((long) STARTS.getOpaque(this));
  }

  /** Withdraws one start, if that is the one in flight. */
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

  // What each kind of operation does in its own way.

  /** Tells somebody that it has completed. */
  abstract void tell(Completion<? super T> callback);

  @Override
  boolean isScheduledWork() {
    return false;
  }

  /** Whether it serves an operation that is in flight, so that a stopped loop takes it too. */
  boolean isInternal() {
    return false;
  }

  /** Called by the starting thread, before the loop sees the start. */
  void prepare(boolean inLoop) {}

  /** Begins the work; on the loop thread. It ends with one of the complete methods. */
  abstract void launch();

  /** Withdraws the work; on the loop thread, while it is in flight. */
  abstract void withdraw();

  /** Whether all it waits for is its turn in the queue. */
  boolean isDoneByTurn() {
    return false;
  }

  /** The loop has come to this operation, which queued itself to wait for that. */
  void turnCame() {
    throw new IllegalStateException(this + " did not queue itself");
  }

  // Its way through the loop.

  /** The loop has come to this task in one of its queues. */
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
      finish(); // the caller may wait for it, and nobody else knows the future yet
    } else {
      LateCompletions.add(this);
    }
  }

  // r[impl loop.cancel.before-start]
  private void begin(boolean inTurn) {
    outcome = null;
    error = null;
    loop.operationBegun();
    // A coroutine that waits for the token's lock lets the loop go on meanwhile. So until then this
    // stays STARTED, and a cancel that comes in finds nothing to withdraw and leaves a note.
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

  /** Completes and delivers in one go, for an operation whose turn in the queue has come. */
  final void completeInTurn(Outcome how) {
    settle(how, null);
    deliver();
  }

  private void settle(Outcome how, @Nullable Throwable failure) {
    STATE.setRelease(this, COMPLETED); // first: waiting for the token's lock may let a cancel in
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

  /** Hands the result over; from here on it may be started again. */
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

  /** Withdraws one start, if that is the one in flight; on the loop thread. */
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
