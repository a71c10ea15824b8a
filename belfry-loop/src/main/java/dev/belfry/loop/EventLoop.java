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
 * An event loop: waits for descriptors, timers and posted tasks, and runs their completions, all on
 * the one thread that calls {@link #run}. Work may be submitted from any thread, and waits until a
 * thread drives the loop or closes it.
 *
 * <p>A turn of the loop runs the queued work, waits for events, and runs the work they bring. Work
 * posted by an operation's completion still runs in the same turn. Work posted by a task runs in
 * the next turn; the wait in between only polls, so that a task that keeps posting itself cannot
 * starve I/O.
 *
 * <p>A stop is final. Operations in flight complete as stopped or, in mode {@link RunMode#DRAINED},
 * run to their own end. Operations started later complete as stopped.
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

  /** Opens a loop on the best available epoll backend. */
  public static EventLoop open() throws IOException {
    return open(LoopOptions.DEFAULT);
  }

  /** Opens a loop on the given backend, which must be available. */
  public static EventLoop open(Backend backend) throws IOException {
    return open(LoopOptions.DEFAULT.withBackend(backend));
  }

  /** Opens a loop with the given options. */
  public static EventLoop open(LoopOptions options) throws IOException {
    return new EventLoop(options);
  }

  /** The backend in use. */
  public Backend backend() {
    return driver.backend();
  }

  /** The scheduler that puts work on this loop, from any thread. */
  // r[impl loop.ctx.api]
  public Scheduler scheduler() {
    return new Scheduler(this);
  }

  /** The counters of this loop, which any thread may read. */
  public LoopMetrics metrics() {
    return metrics;
  }

  /** Whether the caller runs on the thread that drives this loop, directly or as a coroutine. */
  public boolean inLoop() {
    return isOwnedByCaller();
  }

  // Driving.

  /** Drives the loop until {@link #requestStop}; operations then in flight complete as stopped. */
  // r[impl loop.run.stopped]
  public void run() throws IOException {
    run(RunMode.STOPPED);
  }

  /** Drives the loop until {@link #requestStop}, and then for as long as the mode says. */
  public void run(RunMode mode) throws IOException {
    run(mode, StopToken.NEVER);
  }

  /**
   * Drives the loop until {@link #requestStop} or until the token fires. Only the former is final.
   *
   * @return {@link Outcome#VALUE} if a stop was requested, {@link Outcome#STOPPED} if the token
   *     fired first
   * @throws ErrnoException if the loop itself failed
   * @throws IllegalStateException if another thread drives the loop, or the loop has ended
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
          turn(Sleep.FOREVER, stopRequested); // if stopping, that work may have been the last
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

  /** Drives the loop until it has handled something; zero only if stopped with nothing left. */
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

  /** Handles what is ready without blocking; returns how many things it handled. */
  public int runSome() throws IOException {
    return runSome(Duration.ZERO);
  }

  /** Waits once, at most this long, and handles what is ready; returns how many things. */
  // r[impl loop.run.some]
  public int runSome(Duration atMost) throws IOException {
    try (Driving _ = drive()) {
      long nanos = Scheduler.nanosOf(atMost);
      // Capped, so that the difference to a deadline long past cannot overflow.
      long until =
          nanos <= 0 ? Sleep.AWAKE : System.nanoTime() + Math.min(nanos, Driver.LONGEST_NANOS);
      noticeStop();
      return ended ? 0 : turn(until, true);
    }
  }

  /** Handles work until none is ready, without blocking; returns how many things it handled. */
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

  /** Asks the loop to stop, for good. Any thread, at any time, any number of times. */
  // r[impl loop.stop.flag]
  public void requestStop() {
    stopRequested = true;
    sleep.wake();
  }

  /** Whether a stop was requested. */
  public boolean isStopRequested() {
    return stopRequested;
  }

  /** The operations and timers in flight; for the loop thread, or while no thread drives it. */
  public long inFlight() {
    return inFlight;
  }

  /**
   * Stops the loop unless it is stopped already, waits until its run has returned, and releases its
   * resources. Handles are closed by their owners.
   *
   * @throws IllegalStateException on the thread that drives the loop, or in one of its coroutines
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

  /** Releases the resources, then the ownership: another thread may be closing it too. */
  private void release() {
    try {
      sleep.awaitWakers();
      driver.close();
    } finally {
      leave();
    }
  }

  /** Remaining coroutines must run to their end, and a virtual thread cannot carry them. */
  private void closeOnPlatformThread() {
    Joining.awaitEnd(Thread.ofPlatform().name("belfry-loop-close").start(this::close));
  }

  // Coroutines.

  /**
   * Starts a coroutine: a virtual thread that runs on the loop thread where the JDK allows it. See
   * {@link #spawn(String, Callable)}.
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
   * Starts a coroutine with a result. Its body always runs, so that it can close the resources it
   * owns. On a stopped loop the coroutine is interrupted from the start, and everything it awaits
   * is stopped. After the loop has ended it runs on a thread of the JDK, but, where coroutines are
   * carried by the loop, never concurrently with another coroutine of this loop.
   *
   * @throws IllegalStateException if coroutines keep being spawned on a stopped loop, which then
   *     could never end
   */
  public <T> Coroutine<T> spawn(String name, Callable<T> body) {
    var coroutine = new Coroutine<T>(this, name, body);
    coroutine.start();
    return coroutine;
  }

  /** Sleeps in a coroutine, on the loop's own timers, without a helper thread of the JDK. */
  public void sleep(Duration duration) {
    try {
      scheduler().after(duration).await();
    } catch (IOException impossible) {
      throw new AssertionError("a timer does not fail", impossible);
    }
  }

  // Memory.

  /**
   * Waits while a word of memory has a value. An io_uring waits without a thread (Linux 6.7), also
   * for a loop on epoll. Without io_uring, the loop starts threads for it with the first such wait.
   *
   * @param word four aligned bytes, in memory that other processes may share
   */
  public FutexOperation futex(MemorySegment word, int expected) {
    return new FutexOperation(this, word, expected);
  }

  // Children.

  /** Waits for a JDK process to end; gives its exit code, or 128 plus the signal number. */
  public ChildOperation<Integer> child(Process process) {
    return ChildOperation.of(this, process);
  }

  /** Waits for a child started by {@link dev.belfry.linux.Spawn} to end, and reaps it. */
  public ChildOperation<ExitStatus> child(PidFd process) {
    return ChildOperation.of(this, process);
  }

  @Override
  public String toString() {
    return "loop on " + backend().label();
  }
}
