package dev.belfry.loop;

import dev.belfry.linux.SigSet;
import dev.belfry.loop.SignalQueues.Place;
import dev.belfry.loop.SignalQueues.Received;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a signal. Created by {@link SignalService#next} and {@link SignalService#nextAny}. It
 * may be started again and again.
 *
 * <p>A signal is never lost between two waiters: a waiter that is cancelled after it was given a
 * signal passes it on. Once a stop of the loop was requested, no waiter gets a signal.
 */
public final class SignalOperation extends Operation<SignalInfo> implements AutoCloseable {
  private static final long NO_LIMIT = -1;

  private final SignalService service;
  private final SigSet signals;
  private final Place[] places;

  /** The time limit of a wait, or {@link #NO_LIMIT}. */
  private long limitNanos = NO_LIMIT;

  private long deadline;

  // The wait in flight; loop thread only.
  private SignalWaitState state = SignalWaitState.CANCELED;
  private @Nullable SignalQueues queues;
  private @Nullable Received received;
  private @Nullable TimerOperation timer;

  SignalOperation(SignalService service, SigSet signals) {
    super(service.loop());
    this.service = service;
    this.signals = signals;
    this.places =
        signals.signals().mapToObj(signum -> new Place(signum, this)).toArray(Place[]::new);
  }

  /**
   * Limits the duration of each wait started from now on. When the time is up, the wait fails with
   * an {@link OperationTimeoutException}.
   *
   * @return this operation
   */
  public SignalOperation within(Duration limit) {
    limitNanos = Math.max(0, Scheduler.nanosOf(limit));
    return this;
  }

  /** Cancels the wait in flight, if any. Any thread. */
  @Override
  public void close() {
    cancel();
  }

  /** The state of the wait in flight, or of the last one. */
  SignalWaitState state() {
    return state;
  }

  Place[] places() {
    return places;
  }

  @Override
  void prepare(boolean inLoop) {
    if (limitNanos != NO_LIMIT) {
      deadline = System.nanoTime() + Math.min(limitNanos, Long.MAX_VALUE / 4);
    }
  }

  /**
   * Takes a pending signal, or else queues up. Both happen on the loop thread in one step, so no
   * signal can slip in between, whichever thread started the wait.
   */
  // r[impl sig.await.basic] r[impl sig.await.pending-first] r[impl sig.await.recheck]
  @Override
  void launch() {
    SignalQueues current = service.queues(signals);
    if (loop.isStopRequested()) { // by the callback that started this
      completeStopped();
      return;
    }
    queues = current;
    state = SignalWaitState.WAITING;
    received = current.take(places);
    if (received != null) {
      state = state.to(SignalWaitState.NOTIFIED).to(SignalWaitState.RESUMED);
      completeValue();
      return;
    }
    current.add(places);
    if (limitNanos != NO_LIMIT) {
      // A new timer each time: the completion of the previous one may still be queued.
      timer = new TimerOperation(loop).at(deadline);
      timer.start(this::timeIsUp);
    }
  }

  /** A signal has come. The waiter gets it in its turn, after all that came with the signal. */
  // r[impl sig.await.posted] r[impl sig.await.loop-thread] r[impl sig.await.any]
  void notified(Received record) {
    state = state.to(SignalWaitState.NOTIFIED);
    received = record;
    stopTimer();
    loop.work.addCompletion(this);
  }

  // r[impl sig.shutdown.loop]
  @Override
  void turnCame() {
    if (state == SignalWaitState.NOTIFIED) {
      state = state.to(loop.isStopRequested() ? SignalWaitState.CANCELED : SignalWaitState.RESUMED);
    }
    completeInTurn(state == SignalWaitState.RESUMED ? Outcome.VALUE : Outcome.STOPPED);
  }

  @Override
  void withdraw() {
    SignalQueues used = Objects.requireNonNull(queues);
    if (state == SignalWaitState.WAITING) {
      used.remove(places);
      ended(null);
    } else if (state == SignalWaitState.NOTIFIED) { // it completes when its turn comes
      state = state.to(SignalWaitState.CANCELED);
      used.giveBack(Objects.requireNonNull(received));
    }
  }

  // r[impl sig.await.timed]
  private void timeIsUp(Operation<? extends Void> fired) {
    if (fired == timer && fired.hasValue()) {
      timer = null;
      Objects.requireNonNull(queues).remove(places);
      ended(new OperationTimeoutException("none of " + signals + " came in time"));
    }
  }

  /** It is in no queue any more and gets no signal. */
  void ended(@Nullable Throwable error) {
    state = state.to(SignalWaitState.CANCELED);
    stopTimer();
    if (error == null) {
      completeStopped();
    } else {
      completeError(error);
    }
  }

  private void stopTimer() {
    TimerOperation running = timer;
    if (running != null) {
      timer = null;
      running.cancel();
    }
  }

  @Override
  SignalInfo value() {
    return Objects.requireNonNull(received).info();
  }

  @Override
  void discardValue() {
    Objects.requireNonNull(queues).giveBack(Objects.requireNonNull(received));
  }

  @Override
  public String toString() {
    return "wait for " + signals;
  }
}
