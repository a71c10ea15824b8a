package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.PidFd;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Waits for descriptors, timers and posted work, and runs their completions, all on the one thread
 * that calls {@link #run}. Work may be submitted from any thread.
 *
 * <p>A turn of the loop: run what is queued, wait, run what the wait brought. What an operation's
 * completion posts still runs in this turn; what a posted task posts waits for the next one, and
 * then the wait only polls, so that nobody can keep the loop from the kernel.
 *
 * <p>A stop is final. What is in flight then completes as stopped (or, in mode {@link
 * RunMode#DRAINED}, by itself), and so does whatever is started later.
 *
 * {@snippet :
 * try (EventLoop loop = EventLoop.open()) {
 *   loop.scheduler().after(Duration.ofMillis(100)).start(timer -> loop.requestStop());
 *   loop.run();
 * }
 * }
 */
public final class EventLoop extends LoopCore implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  private EventLoop(LoopOptions options) throws IOException {
    super(options);
  }

  /** A loop on the best epoll there is. */
  public static EventLoop open() throws IOException {
    return open(LoopOptions.DEFAULT);
  }

  /** A loop on the given backend, which must be available. */
  public static EventLoop open(Backend backend) throws IOException {
    return open(LoopOptions.DEFAULT.withBackend(backend));
  }

  /** A loop with these options. */
  public static EventLoop open(LoopOptions options) throws IOException {
    return new EventLoop(options);
  }

  /** The backend in use. */
  public Backend backend() {
    return driver.backend();
  }

  /** Puts work on this loop, from any thread. */
  // r[impl loop.ctx.api]
  public Scheduler scheduler() {
    return new Scheduler(this);
  }

  /** What the loop has done so far; may be read by any thread. */
  public LoopMetrics metrics() {
    return metrics;
  }

  /** Whether the caller is on the thread that drives this loop, as itself or as a coroutine. */
  public boolean inLoop() {
    return isOwnedByCaller();
  }

  // Driving.

  /** Drives the loop until {@link #requestStop}; then what is in flight completes as stopped. */
  // r[impl loop.run.stopped]
  public void run() throws IOException {
    run(RunMode.STOPPED);
  }

  /** Drives the loop until {@link #requestStop}, and on as the mode says. */
  public void run(RunMode mode) throws IOException {
    run(mode, StopToken.NEVER);
  }

  /**
   * Drives the loop until {@link #requestStop}, or until the token fires; only the former is final.
   *
   * @return {@link Outcome#VALUE} if a stop was requested, {@link Outcome#STOPPED} if the token
   *     fired first
   * @throws ErrnoException if the loop itself failed
   * @throws IllegalStateException if another thread drives it, or it has ended
   */
  // r[impl loop.run.sender]
  public Outcome run(RunMode mode, StopToken token) throws IOException {
    try (Driving _ = drive();
        StopToken.Registration _ = token.onStop(sleep::wake)) {
      if (ended) {
        throw new IllegalStateException("the loop was stopped, which is final");
      }
      driver.threadStays();
      try {
        while (!isDone(mode)) {
          if (token.isStopRequested()) {
            return Outcome.STOPPED;
          }
          turn(Sleep.FOREVER, stopRequested); // what is handled may have been all that was left
        }
        end();
        return Outcome.VALUE;
      } finally {
        driver.threadLeaves();
      }
    }
  }

  private boolean isDone(RunMode mode) {
    return mode == RunMode.STOPPED ? noticeStop() : isDrained();
  }

  /** Drives the loop until something was handled; zero only if stopped with nothing left. */
  // r[impl loop.run.one]
  public int runOne() throws IOException {
    try (Driving _ = drive()) {
      int count = 0;
      boolean stopped = false;
      while (count == 0 && !stopped && !ended) {
        stopped = noticeStop();
        count = turn(stopped ? Sleep.AWAKE : Sleep.FOREVER, true);
      }
      return count;
    }
  }

  /** Handles what there is without ever blocking; returns how many things it handled. */
  public int runSome() throws IOException {
    return runSome(Duration.ZERO);
  }

  /** Waits at most once, for at most this long, and handles what there is; says how much. */
  // r[impl loop.run.some]
  public int runSome(Duration atMost) throws IOException {
    try (Driving _ = drive()) {
      long nanos = Scheduler.nanosOf(atMost);
      // Not so long that the difference to a time long past would overflow.
      long until =
          nanos <= 0 ? Sleep.AWAKE : System.nanoTime() + Math.min(nanos, Driver.LONGEST_NANOS);
      noticeStop();
      return ended ? 0 : turn(until, true);
    }
  }

  /** Handles things until nothing can run right away; returns how many. Never blocks. */
  // r[impl loop.run.until-empty]
  public int runUntilEmpty() throws IOException {
    try (Driving _ = drive()) {
      int count = 0;
      boolean empty = ended;
      while (!empty) {
        noticeStop();
        count += turn(Sleep.AWAKE, true);
        empty = work.wasIdle() && work.isEmpty();
      }
      return count;
    }
  }

  private Driving drive() {
    own();
    metrics.asleep(false);
    return new Driving(this);
  }

  private record Driving(EventLoop loop) implements AutoCloseable {
    @Override
    public void close() {
      loop.metrics.asleep(true);
      loop.leave();
    }
  }

  /** Asks the loop to stop, once and for all. Any thread, any time, any number of times. */
  // r[impl loop.stop.flag]
  public void requestStop() {
    stopRequested = true;
    sleep.wake();
  }

  /** Whether a stop was requested. */
  public boolean isStopRequested() {
    return stopRequested;
  }

  /** How many operations and timers are in flight; on the loop thread, or when nobody drives it. */
  public long inFlight() {
    return inFlight;
  }

  /**
   * Stops the loop if it is not stopped yet, waits until its run has returned, and releases what it
   * owns. Handles are closed by their owners.
   *
   * @throws IllegalStateException on the thread that drives it, or in one of its coroutines
   */
  @Override
  public void close() {
    if (waitsForCaller()) {
      throw new IllegalStateException(
          "a loop is closed after its run has returned: request a stop");
    }
    requestStop();
    if (Thread.currentThread().isVirtual()) {
      closeOnPlatformThread();
      return;
    }
    awaitAndOwn();
    try {
      end();
    } catch (IOException e) {
      LOG.log(ERROR, "while ending a loop", e);
    } finally {
      release();
    }
  }

  /** Lets go of what the loop owns, and then of the loop: another thread may be closing it too. */
  private void release() {
    try {
      sleep.awaitWakers();
      driver.close();
    } finally {
      leave();
    }
  }

  /** Coroutines that are left have to run to their end, and a virtual thread cannot carry them. */
  private void closeOnPlatformThread() {
    Joining.awaitEnd(Thread.ofPlatform().name("belfry-loop-close").start(this::close));
  }

  // Coroutines.

  /**
   * Starts a coroutine: a virtual thread that runs on the loop thread wherever that is possible;
   * see {@link #spawn(String, Callable)}.
   */
  public Coroutine<Void> spawn(String name, Coroutine.Body body) {
    return spawn(
        name,
        () -> {
          body.run();
          return Operation.nothing();
        });
  }

  /**
   * Starts a coroutine with a result. Its body runs in any case, so that it can close what it was
   * given: on a loop that was stopped it is interrupted from the start, and whatever it awaits is
   * stopped. If the loop has ended it runs on a thread of the JDK's, never beside another of the
   * loop's coroutines.
   *
   * @throws IllegalStateException if coroutines are spawned again and again on a loop that is about
   *     to end
   */
  public <T> Coroutine<T> spawn(String name, Callable<T> body) {
    var coroutine = new Coroutine<T>(this, name, body);
    coroutine.start();
    return coroutine;
  }

  /** Sleeps by the loop's own timers, without a helper thread of the JDK; in a coroutine. */
  public void sleep(Duration duration) {
    try {
      scheduler().after(duration).await();
    } catch (IOException impossible) {
      throw new AssertionError("a timer does not fail", impossible);
    }
  }

  // Memory.

  /**
   * Waits while a word of memory has a value. An io_uring does that without a thread (Linux 6.7),
   * on epoll too; where there is none the loop has threads for it, from the first such wait on.
   *
   * @param word four bytes, aligned, in memory that others may share
   */
  public FutexOperation futex(MemorySegment word, int expected) {
    return new FutexOperation(this, word, expected);
  }

  // Children.

  /** Waits for a JDK process to end; gives its exit code, or 128 plus the signal that ended it. */
  public ChildOperation<Integer> child(Process process) {
    return ChildOperation.of(this, process);
  }

  /** Waits for a child that {@link dev.belfry.linux.Spawn} has started to end, and reaps it. */
  public ChildOperation<ExitStatus> child(PidFd process) {
    return ChildOperation.of(this, process);
  }

  @Override
  public String toString() {
    return "loop on " + backend().label();
  }
}
