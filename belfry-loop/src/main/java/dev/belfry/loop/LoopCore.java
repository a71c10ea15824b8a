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
 * The internals of a loop: its turn, the operations in flight, and its end. Operations, handles and
 * drivers use this class; {@link EventLoop} is the public side.
 *
 * <p>It is a superclass rather than a field, because every start and every completion passes
 * through here, and this saves them an indirection.
 */
abstract sealed class LoopCore extends ThreadOwned permits EventLoop {
  /** After this many starts, a stopped loop throws instead of completing more as stopped. */
  static final int MAX_REFUSALS = 1_000_000;

  /** The system calls of the loop thread. */
  final Sys sys;

  /** The system calls of other threads. */
  final Sys sharedSys;

  final LoopOptions options;
  final LoopMetrics metrics = new LoopMetrics();
  final Driver driver;
  final TimerHeap timers = new TimerHeap();
  final Work work = new Work(metrics);
  final Sleep sleep;

  // Loop thread only.
  long inFlight;
  private int turn;
  private int refusals;

  /** Set once, by any thread. */
  volatile boolean stopRequested;

  /** Whether new work is accepted; false once the loop has noticed the stop. */
  private volatile boolean takesWork = true;

  /** Whether nothing is in flight, and never will be again. */
  volatile boolean ended;

  private final Set<Coroutine<?>> coroutines = ConcurrentHashMap.newKeySet();

  /** Keeps coroutines from running concurrently once the loop has no thread. */
  private final Lock afterEnd = new ReentrantLock();

  LoopCore(LoopOptions options) throws IOException {
    this.options = options;
    Sys given = options.systemCalls();
    this.sys = given != null ? given : Sys.forOneThread();
    this.sharedSys = given != null ? given : Sys.forAnyThread();
    this.driver = Driver.openFor(this);
    this.sleep = new Sleep(driver, work, metrics, Scheduler.nanosOf(options.busyPoll()));
  }

  // Incoming work.

  final void execute(Runnable action) {
    if (!takesWork) {
      throw new RejectedExecutionException("the loop was stopped");
    }
    post(new RunnableTask(action));
  }

  /** Brings a task to the loop, from any thread. */
  // r[impl loop.backend.submit-any]
  final void post(Task task) {
    if (isOwnedByCaller()) {
      work.addScheduled(task);
    } else if (!work.post(task)) {
      task.abandoned();
    } else if (sleep.wakeFor(neededAt(task))) {
      metrics.postWoke();
    }
  }

  /** When the loop must look at a posted task: immediately, unless only time can complete it. */
  private long neededAt(Task task) {
    // A token is registered only when the loop sees the start, and a loop that no longer accepts
    // work must refuse the start without delay.
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
   * Adds a coroutine, for which the loop waits before it ends, unless it has ended. A coroutine
   * added after the stop is interrupted before it begins, as the stop interrupts all others.
   */
  // r[impl loop.stop.coroutine]
  final void add(Coroutine<?> coroutine) {
    coroutines.add(coroutine);
    if (!takesWork) { // checked after the add: else the stop finds it in the set
      coroutine.cancel();
    }
  }

  /** Whether the end of the loop waits for the caller: its thread, or one of its coroutines. */
  final boolean waitsForCaller() {
    Thread current = Thread.currentThread();
    // Where the carrier of a virtual thread is unknown, coroutines do not run on the loop thread.
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

  /** The number of the current turn. */
  final int turn() {
    return turn;
  }

  /**
   * Makes one turn.
   *
   * @param until when the wait ends at the latest: a time of the clock, {@link Sleep#FOREVER}, or
   *     {@link Sleep#AWAKE} for no wait at all
   * @param unlessHandled do not wait if the queued work has given the caller something to report
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

  /** When to wake up at the latest; {@link Sleep#AWAKE} if there is work already. */
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

  /** Stops accepting work once the stop was requested; returns whether it was. */
  final boolean noticeStop() {
    if (stopRequested && takesWork) {
      takesWork = false;
    }
    return stopRequested;
  }

  /** Whether the stop was requested and all work from before it has completed on its own. */
  // r[impl loop.run.drained]
  final boolean isDrained() {
    if (stopRequested && takesWork) {
      work.takePosted(); // tasks posted before the stop are drained too
      work.run();
    }
    return noticeStop() && inFlight == 0 && work.isEmpty();
  }

  /** Ends everything in flight and closes the queue of posted tasks; then the loop has ended. */
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
        // Unless something has run, all that is left is with the kernel or on other threads.
        boolean awaits = inFlight > 0 || !coroutines.isEmpty();
        turn(awaits ? Sleep.FOREVER : Sleep.AWAKE, true);
      } while (inFlight > 0 || !coroutines.isEmpty() || !work.isEmpty());
    } finally {
      ended = true;
      driver.takeBack();
      runAlone(work::end); // not empty if the last turn failed
    }
  }

  /** Runs work of a loop that has ended, never two pieces concurrently, as on the loop. */
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
