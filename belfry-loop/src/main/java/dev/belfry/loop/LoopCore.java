package dev.belfry.loop;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The inside of a loop: how it makes a turn, what is in flight on it, and how all that comes to an
 * end. Operations, handles and drivers work with this; {@link EventLoop} is what others see.
 *
 * <p>It is a superclass rather than a part of the loop, because every start and every completion
 * passes through here: what they need is one step away.
 */
abstract sealed class LoopCore extends ThreadOwned permits EventLoop {
  /** After refusing this many starts, a stopped loop ends without refusing any more. */
  static final int MAX_REFUSALS = 1_000_000;

  /** The calls of the loop thread. */
  final Sys sys;

  /** The calls of other threads. */
  final Sys sharedSys;

  final LoopOptions options;
  final LoopMetrics metrics = new LoopMetrics();
  final Driver driver;
  final TimerHeap timers = new TimerHeap();
  final Work work = new Work(metrics);
  final Sleep sleep;

  // Only the loop thread touches these.
  long inFlight;
  private int turn;
  private int refusals;

  /** Set by any thread, once and for good. */
  volatile boolean stopRequested;

  /** Whether new work is taken; ends when the loop has seen the stop. */
  private volatile boolean takesWork = true;

  /** Whether nothing is in flight any more, and never will be. */
  volatile boolean ended;

  private final Set<Coroutine<?>> coroutines = ConcurrentHashMap.newKeySet();

  /** Keeps coroutines from running at the same time when the loop has no thread any more. */
  private final Lock afterEnd = new ReentrantLock();

  LoopCore(LoopOptions options) throws IOException {
    this.options = options;
    Sys given = options.systemCalls();
    this.sys = given != null ? given : Sys.forOneThread();
    this.sharedSys = given != null ? given : Sys.forAnyThread();
    this.driver = Driver.openFor(this);
    this.sleep = new Sleep(driver, work, metrics, Scheduler.nanosOf(options.busyPoll()));
  }

  // What comes to the loop.

  final void execute(Runnable action) {
    if (!takesWork) {
      throw new RejectedExecutionException("the loop was stopped");
    }
    post(new RunnableTask(action));
  }

  /** Brings a task to the loop. */
  // r[impl loop.backend.submit-any]
  final void post(Task task) {
    if (isOwnedByCaller()) {
      work.addScheduled(task);
    } else if (work.post(task)) {
      sleep.wakeFor(neededAt(task));
    } else {
      task.abandoned();
    }
  }

  /** When to look at a posted task at the latest: at once, unless only time can end it. */
  private long neededAt(Task task) {
    // A token is watched only once the loop has seen the start; and a loop that no longer takes
    // work is to refuse it now.
    return task instanceof TimerOperation timer && takesWork && !timer.hasToken()
        ? timer.deadline()
        : Sleep.AWAKE;
  }

  final boolean takesWork() {
    return takesWork;
  }

  /** Whether a start on the loop thread is worth completing, if only as stopped. */
  final boolean bearsStart() {
    return takesWork || ++refusals <= MAX_REFUSALS;
  }

  final void operationBegun() {
    inFlight++;
  }

  final void operationEnded() {
    inFlight--;
    work.operationHandled();
  }

  /**
   * Takes a coroutine in, which the loop then waits for at its end, unless that has come. One that
   * comes after the stop is interrupted before it begins, as the stop does it to the others.
   */
  // r[impl loop.stop.coroutine]
  final void add(Coroutine<?> coroutine) {
    coroutines.add(coroutine);
    if (!takesWork) { // asked afterwards: else the stop finds it among them
      coroutine.cancel();
    }
  }

  /** Whether the end of the loop waits for the caller: its thread, or one of its coroutines. */
  final boolean waitsForCaller() {
    Thread current = Thread.currentThread();
    // Where we cannot tell which thread a coroutine is on, it is on one that is not the loop's.
    return isOwnedByCaller()
        || (current.isVirtual()
            && coroutines.stream().anyMatch(coroutine -> coroutine.thread() == current));
  }

  final void remove(Coroutine<?> coroutine) {
    coroutines.remove(coroutine);
    if (!takesWork) {
      sleep.wake();
    }
  }

  // The turn.

  /** The number of the turn. */
  final int turn() {
    return turn;
  }

  /**
   * One turn.
   *
   * @param until when the wait ends at the latest: a time of the clock, {@link Sleep#FOREVER}, or
   *     {@link Sleep#AWAKE} for no wait at all
   * @param unlessHandled do not wait if the work that was queued is something to report
   * @return how many things were handled
   */
  final int turn(long until, boolean unlessHandled) throws ErrnoException {
    turn++;
    work.beginCount();
    work.takePosted();
    work.takeNext();
    work.run();
    boolean wait = !unlessHandled || work.wasIdle();
    metrics.turnEnded(sleep.sleep(wait ? sleepDeadline(until) : Sleep.AWAKE));
    work.takePosted();
    expireTimers();
    work.run();
    return work.handled();
  }

  /** When to wake at the latest; {@link Sleep#AWAKE} if there is something to do already. */
  // r[impl loop.wait.flush-first] r[impl loop.wait.infinite]
  private long sleepDeadline(long until) {
    if (until == Sleep.AWAKE || !work.isEmpty() || work.hasPosted()) {
      return Sleep.AWAKE;
    }
    if (timers.hasNewcomers()) {
      timers.settle(System.nanoTime());
    }
    long earliest = timers.earliest();
    if (until == Sleep.FOREVER) {
      return earliest;
    }
    return earliest == Sleep.FOREVER || until - earliest < 0 ? until : earliest;
  }

  // r[impl loop.timer.expire] r[impl loop.timer.never-early]
  private void expireTimers() {
    if (timers.pending() == 0) {
      return;
    }
    long now = System.nanoTime();
    timers.settle(now);
    TimerOperation timer;
    while ((timer = timers.pollExpired(now)) != null) {
      metrics.timerLag(now - timer.deadline());
      timer.completeValue();
    }
  }

  // The end.

  /** Takes no new work once the stop was requested; says whether it was. */
  final boolean noticeStop() {
    if (stopRequested && takesWork) {
      takesWork = false;
    }
    return stopRequested;
  }

  /** Whether the stop was requested and all that was there before has completed by itself. */
  // r[impl loop.run.drained]
  final boolean isDrained() {
    if (stopRequested && takesWork) {
      work.takePosted(); // what was posted before the stop is drained too
      work.run();
    }
    return noticeStop() && inFlight == 0 && work.isEmpty();
  }

  /** Ends everything that is in flight and takes no more posted tasks; then the loop has ended. */
  // r[impl loop.stop.nonew]
  final void end() throws ErrnoException {
    noticeStop();
    if (ended) {
      return;
    }
    try {
      do {
        cancelAll();
        coroutines.forEach(Coroutine::cancel);
        // Only what the kernel or others have is left to wait for, unless something has run.
        boolean awaits = inFlight > 0 || !coroutines.isEmpty();
        turn(awaits ? Sleep.FOREVER : Sleep.AWAKE, true);
      } while (inFlight > 0 || !coroutines.isEmpty() || !work.isEmpty());
    } finally {
      ended = true;
      driver.takeBack();
      runAlone(work::end); // there is something left if the last turn failed
    }
  }

  /** Runs what belongs to a loop that has ended; one thing at a time, as the loop did. */
  final void runAlone(Runnable rest) {
    afterEnd.lock();
    try {
      rest.run();
    } finally {
      afterEnd.unlock();
    }
  }

  private void cancelAll() {
    TimerOperation timer;
    timers.settle(System.nanoTime());
    while ((timer = timers.poll()) != null) {
      timer.completeStopped();
    }
    driver.cancelAll();
  }
}
