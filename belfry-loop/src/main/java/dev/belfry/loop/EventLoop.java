package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.INFO;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

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
public final class EventLoop implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());
  private static final VarHandle OWNER =
      FieldHandle.of(MethodHandles.lookup(), "owner", Thread.class);

  /** After so many starts that a stopped loop has refused, it ends without refusing any more. */
  private static final int MOST_REFUSALS = 1_000_000;

  /** The calls of the loop thread. */
  final Sys sys;

  /** The calls of other threads. */
  final Sys sharedSys;

  final LoopOptions options;
  final LoopMetrics metrics = new LoopMetrics();
  private final Driver driver;
  private final Backend backend;
  private final TimerHeap timers = new TimerHeap();
  private final Work work = new Work(metrics);
  private final Sleep sleep;

  // Only the loop thread touches these.
  private long inFlight;
  private int turn;
  private int refusals;

  /** The thread that drives the loop, or null. */
  private volatile @Nullable Thread owner;

  private volatile boolean stopRequested;

  /** Whether new work is taken; ends when the loop has seen the stop. */
  private volatile boolean takesWork = true;

  private volatile boolean ended;

  /** Held by the thread that closes the loop. */
  private final Object closing = new Object();

  /** The thread that waits to close the loop, or null; whoever drove it wakes that. */
  private volatile @Nullable Thread closer;

  private final Set<Coroutine<?>> coroutines = ConcurrentHashMap.newKeySet();

  private EventLoop(LoopOptions options) throws IOException {
    this.options = options;
    Sys given = options.systemCalls();
    this.sys = given != null ? given : Sys.forOneThread();
    this.sharedSys = given != null ? given : Sys.forAnyThread();
    this.driver = openDriver();
    this.backend = driver.backend();
    this.sleep = new Sleep(driver, work, metrics, Scheduler.nanosOf(options.busyPoll()));
  }

  private Driver openDriver() throws ErrnoException {
    if (options.backend() == Backend.IO_URING) {
      return UringDriver.open(this);
    }
    if (options.prefersIoUring()) {
      try {
        return UringDriver.open(this);
      } catch (ErrnoException refused) {
        LOG.log(INFO, "the loop runs on epoll, because {0}", refused.getMessage());
      }
    }
    return EpollDriver.open(this, options.backend());
  }

  /** A loop on the best epoll there is. */
  public static EventLoop open() throws IOException {
    return open(LoopOptions.DEFAULT);
  }

  /** A loop on a backend of one's choice, which must be available. */
  public static EventLoop open(Backend backend) throws IOException {
    return open(LoopOptions.DEFAULT.backend(backend));
  }

  /** A loop made as told. */
  public static EventLoop open(LoopOptions options) throws IOException {
    return new EventLoop(options);
  }

  /** The backend in use. */
  public Backend backend() {
    return backend;
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
    Thread driving = owner;
    Thread current = Thread.currentThread();
    return current == driving
        || (current.isVirtual() && driving != null && LoopCarrier.currentCarrier() == driving);
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
          turn(Sleep.FOREVER, false);
        }
        finish();
        return Outcome.VALUE;
      } finally {
        driver.threadLeaves();
      }
    }
  }

  /** Drives until something was handled; zero only if the loop was stopped and nothing is left. */
  // r[impl loop.run.one]
  public int runOne() throws IOException {
    try (Driving _ = drive()) {
      int count = 0;
      boolean stopped = false;
      while (count == 0 && !stopped && !ended) {
        stopped = isStopSeen();
        count = turn(stopped ? Sleep.AWAKE : Sleep.FOREVER, true);
      }
      return count;
    }
  }

  /** Handles what there is without ever blocking; says how many things that were. */
  public int runSome() throws IOException {
    return runSome(Duration.ZERO);
  }

  /** Waits at most once, at most so long, and handles what there is; says how much that was. */
  // r[impl loop.run.some]
  public int runSome(Duration atMost) throws IOException {
    try (Driving _ = drive()) {
      long nanos = Scheduler.nanosOf(atMost);
      long until = nanos <= 0 ? Sleep.AWAKE : saturatedAdd(System.nanoTime(), nanos);
      return isStopSeen() ? 0 : turn(until, true);
    }
  }

  /** Handles things until nothing is runnable at once; says how many. Never blocks. */
  // r[impl loop.run.until-empty]
  public int runUntilEmpty() throws IOException {
    try (Driving _ = drive()) {
      int count = 0;
      int some;
      do {
        isStopSeen();
        some = ended ? 0 : turn(Sleep.AWAKE, true);
        count += some;
      } while (some > 0 || !work.isEmpty());
      return count;
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

  /** The thread that drives the loop, or null if none does. */
  @Nullable Thread owner() {
    return owner;
  }

  /** How many operations and timers are in flight; on the loop thread, or when nobody drives. */
  public long inFlight() {
    return inFlight;
  }

  /**
   * Stops the loop if it was not, waits until its run has returned, and releases what it owns.
   * Handles are closed by their owners.
   */
  @Override
  public void close() {
    if (inLoop()) {
      throw new IllegalStateException(
          "a loop is closed after its run has returned: request a stop");
    }
    requestStop();
    if (Thread.currentThread().isVirtual()) {
      closeOnPlatformThread();
      return;
    }
    synchronized (closing) {
      awaitOwnership();
      try {
        finish();
      } catch (IOException e) {
        LOG.log(ERROR, "while ending a loop", e);
      } finally {
        owner = null;
      }
    }
    sleep.awaitWakers();
    driver.close();
  }

  /** Coroutines that are left have to run to their end, and a virtual thread cannot carry them. */
  private void closeOnPlatformThread() {
    Joining.awaitEnd(Thread.ofPlatform().name("belfry-loop-close").start(this::close));
  }

  /** Waits until nobody drives the loop, whichever way it was driven, and takes it over. */
  private void awaitOwnership() {
    Thread current = Thread.currentThread();
    closer = current;
    boolean interrupted = false;
    while (!OWNER.compareAndSet(this, null, current)) {
      LockSupport.park(this);
      interrupted |= Thread.interrupted();
    }
    closer = null;
    if (interrupted) {
      current.interrupt();
    }
  }

  // Coroutines.

  /**
   * Starts a coroutine: a virtual thread that runs on the loop thread wherever that is possible.
   */
  public Coroutine<Void> spawn(String name, Runnable body) {
    return spawn(
        name,
        () -> {
          body.run();
          return TimerOperation.nothing();
        });
  }

  /** Starts a coroutine with a result. */
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
   * Waits while a word of memory has a value. An io_uring does that without a thread (Linux 6.7);
   * else the loop has one for it, from the first such wait on.
   *
   * @param word four bytes, aligned, in memory that others may share
   */
  public FutexOperation futex(MemorySegment word, int expected) {
    return new FutexOperation(this, word, expected);
  }

  // Children.

  /**
   * Waits for a process of the JDK to end; gives its exit code, 128 plus a signal that ended it.
   */
  public ChildOperation<Integer> child(Process process) {
    return ChildOperation.of(this, process);
  }

  /** Waits for a child to end that {@link dev.belfry.linux.Spawn} has started, and reaps it. */
  public ChildOperation<ExitStatus> child(PidFd process) {
    return ChildOperation.of(this, process);
  }

  boolean add(Coroutine<?> coroutine) {
    coroutines.add(coroutine);
    if (!takesWork) {
      remove(coroutine); // and tells the loop, which may have begun to wait for it
      return false;
    }
    return true;
  }

  void remove(Coroutine<?> coroutine) {
    coroutines.remove(coroutine);
    if (!takesWork) {
      sleep.wake();
    }
  }

  // For operations, handles and drivers.

  void execute(Runnable action) {
    if (!takesWork) {
      throw new RejectedExecutionException("the loop was stopped");
    }
    post(new RunnableTask(action));
  }

  /** Brings a task to the loop. */
  // r[impl loop.backend.submit-any]
  void post(Task task) {
    if (inLoop()) {
      work.addScheduled(task);
    } else if (work.post(task)) {
      sleep.wakeFor(task instanceof TimerOperation timer ? timer.deadline() : Sleep.AWAKE);
    } else {
      task.abandoned();
    }
  }

  /** The queues of the loop thread. */
  Work work() {
    return work;
  }

  TimerHeap timers() {
    return timers;
  }

  Driver driver() {
    return driver;
  }

  /** The number of the turn. */
  int turn() {
    return turn;
  }

  boolean takesWork() {
    return takesWork;
  }

  /** Whether a start on the loop thread is worth completing, if only as stopped. */
  boolean bearsStart() {
    return takesWork || ++refusals <= MOST_REFUSALS;
  }

  boolean hasEnded() {
    return ended;
  }

  void operationBegun() {
    inFlight++;
  }

  void operationEnded() {
    inFlight--;
    work.operationHandled();
  }

  @Nullable Coroutine<?> runningCoroutine() {
    return work.runningCoroutine();
  }

  // The turn.

  /**
   * One turn.
   *
   * @param until when the wait ends at the latest: a time of the clock, {@link Sleep#FOREVER}, or
   *     {@link Sleep#AWAKE} for no wait at all
   * @param unlessHandled do not wait either if the work that was queued is something to report
   * @return how many things were handled
   */
  private int turn(long until, boolean unlessHandled) throws ErrnoException {
    turn++;
    work.beginCount();
    work.takePosted();
    work.takeNext();
    work.run();
    boolean wait = !unlessHandled || work.handled() == 0;
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

  // r[impl loop.run.drained]
  private boolean isDone(RunMode mode) {
    if (mode == RunMode.STOPPED) {
      return isStopSeen();
    }
    if (stopRequested && takesWork) {
      work.takePosted(); // what was posted before the stop is drained too
      work.run();
    }
    return isStopSeen() && inFlight == 0 && work.isEmpty();
  }

  /** Whether the stop was requested; from the first look on no new work is taken. */
  private boolean isStopSeen() {
    if (stopRequested && takesWork) {
      takesWork = false;
    }
    return stopRequested;
  }

  /** Ends everything that is in flight and closes the inbox; then the loop has ended. */
  // r[impl loop.stop.nonew]
  private void finish() throws IOException {
    isStopSeen();
    if (ended) {
      return;
    }
    try {
      do {
        cancelAll();
        coroutines.forEach(Coroutine::cancel);
        turn(coroutines.isEmpty() || inFlight > 0 ? Sleep.AWAKE : Sleep.FOREVER, false);
      } while (inFlight > 0 || !coroutines.isEmpty() || !work.isEmpty());
    } finally {
      ended = true;
      work.end(); // there is something left if the last turn failed
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

  // Who drives.

  // r[impl loop.run.exclusive] r[impl loop.backend.single]
  private Driving drive() {
    Thread current = Thread.currentThread();
    if (current.isVirtual()) {
      throw new IllegalStateException("a loop is driven by a platform thread, not a virtual one");
    }
    if (!OWNER.compareAndSet(this, null, current)) {
      throw new IllegalStateException("the loop is driven already, by " + owner);
    }
    metrics.asleep(false);
    return new Driving(this);
  }

  private record Driving(EventLoop loop) implements AutoCloseable {
    @Override
    public void close() {
      loop.metrics.asleep(true);
      loop.owner = null;
      LockSupport.unpark(loop.closer);
    }
  }

  private static long saturatedAdd(long time, long nanos) {
    long sum = time + nanos;
    return sum < time ? Sleep.FOREVER - 1 : sum;
  }

  @Override
  public String toString() {
    return "loop on " + backend.label();
  }
}
