package dev.belfry.workers;

import dev.belfry.linux.ExitStatus;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.TimerOperation;
import dev.belfry.shm.PeerOptions;
import dev.belfry.shm.ShmHost;
import dev.belfry.shm.SpawnTicket;
import dev.belfry.shm.Witness;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the wanted number of workers alive: starts them, replaces one that dies by a spare, starts
 * its successor later and later while workers die before they have served, and gives up if that
 * does not end. Unless noted otherwise, for the loop thread.
 */
final class Supervisor {
  private static final System.Logger LOG = System.getLogger(Supervisor.class.getName());

  /** A worker that was ready for this long was no part of a crash loop. */
  private static final Duration SERVED = Duration.ofSeconds(1);

  /** How long a worker that was told to leave may stay, and its process once it has left. */
  private static final Duration LEAVE_LIMIT = Duration.ofSeconds(5);

  private static final Duration SOON = Duration.ofMillis(1);

  private final PoolOptions options;
  private final ShmHost host;
  private final EventLoop loop;
  private final Gate gate;
  private final CallMeter meter;
  private final Consumer<Call> again;
  private final CrashLoop crashLoop;
  private final Crew crew;
  private final EverySecond everySecond;
  private final AtomicLong deaths = new AtomicLong();
  private volatile boolean leaving;
  private int waitingToStart;
  private int lastNumber;

  /** Why the last attempt to start a worker had to be postponed, as logged; empty if it did not. */
  private String obstacle = "";

  Supervisor(PoolOptions options, ShmHost host, Gate gate, CallMeter meter, Consumer<Call> again) {
    this.options = options;
    this.host = host;
    this.loop = host.loop();
    this.gate = gate;
    this.meter = meter;
    this.again = again;
    this.crashLoop =
        new CrashLoop(
            options.crashLimit,
            options.firstDelay,
            options.longestDelay,
            RandomGenerator.getDefault());
    this.crew = new Crew(options.workers, options.spares, gate);
    this.everySecond = new EverySecond(loop, crew, meter);
  }

  // For any thread.

  Crew crew() {
    return crew;
  }

  /** Whether workers are still to be started. */
  boolean startsWorkers() {
    return !leaving && !crashLoop.isOpen();
  }

  boolean isCircuitOpen() {
    return crashLoop.isOpen();
  }

  int deathsInARow() {
    return crashLoop.deathsInARow();
  }

  /** Why calls must fail while no worker takes them; null if a worker does, or is to. */
  @Nullable CircuitOpen circuitOpen() {
    CircuitOpen failure = crashLoop.failure(); // read first: once it is set, no worker is added
    return failure != null && crew.isOneComing() ? null : failure;
  }

  long deaths() {
    return deaths.get();
  }

  void start() {
    post(
        () -> {
          fillUp();
          everySecond.start();
        });
  }

  /** Starts workers again after a crash loop. */
  void reset() {
    crashLoop.reset();
    post(this::fillUp);
  }

  /** Starts no more workers from now on. */
  void leave() {
    leaving = true;
  }

  /** Whether a caller waits for a call to leave a worker. */
  boolean isRoomWanted() {
    return gate.waiting() > 0;
  }

  /** A call has left a worker. */
  void roomCame(PooledWorker worker) {
    gate.roomForOne();
    if (worker.state() == WorkerState.RETIRING) {
      post(worker::leaveIfIdle);
    }
  }

  void answered(PooledWorker worker) {
    if (worker.answers() == limitOf(worker)) {
      post(() -> retire(worker));
    }
  }

  /** Differs between workers, so that they are not all replaced at the same time. */
  private long limitOf(PooledWorker worker) {
    long calls = options.recycleCalls;
    return calls == Long.MAX_VALUE
        ? calls
        : calls + Math.floorMod(worker.hashCode(), calls / 10 + 1);
  }

  void again(Call call) {
    meter.repeated();
    again.accept(call);
  }

  void deadLetter(Call call, DeadLetter letter) {
    if (call.fail(letter)) {
      tell(() -> options.listener.onDeadLetter(letter));
    }
  }

  /**
   * A call was abandoned: a worker that goes on with it is killed.
   *
   * @param told whether the worker was sent the message that says so
   */
  void watchStuck(PooledWorker worker, long id, boolean told) {
    Runnable stuck = () -> worker.end("stuck: it carries on with a call that was given up");
    post(() -> new StuckWatch(loop, worker, id, told, options.stuckLimit, stuck).start());
  }

  void afterThisTurn(Runnable action) {
    post(action);
  }

  private void post(Runnable action) {
    try {
      loop.scheduler().execute(action);
    } catch (RejectedExecutionException e) {
      LOG.log(Level.DEBUG, "the pool has ended", e);
    }
  }

  // On the loop thread.

  private void fillUp() {
    while (startsWorkers() && crew.hasRoom(waitingToStart) && hasEntry()) {
      try {
        startOne();
        obstacle = "";
      } catch (IOException e) { // such as running out of descriptors
        tellOnce(String.valueOf(e.getMessage()));
        fillUpAfter(options.firstDelay);
        return;
      }
    }
  }

  /** Logs an obstacle once: it may last long, and each further attempt meets it again. */
  private void tellOnce(String reason) {
    if (!reason.equals(obstacle)) {
      LOG.log(Level.WARNING, "cannot start another worker yet: " + reason);
      obstacle = reason;
    }
  }

  /** Whether the segment has a free entry; if not, the next worker that ends frees one. */
  private boolean hasEntry() {
    return crew.all().size() < host.segment().config().maxGuests();
  }

  private void fillUpAfter(Duration delay) {
    waitingToStart++;
    after(
        delay,
        () -> {
          waitingToStart--;
          fillUp();
        });
  }

  private void startOne() throws IOException {
    String name = options.name + "-" + (lastNumber + 1);
    int position = crew.freePosition();
    var worker =
        new PooledWorker(
            name, this, options.callsPerWorker, options.attempts, crew.deathsAt(position));
    SpawnTicket ticket =
        host.addPeer(
            PeerOptions.DEFAULT
                .withName(name)
                .withListener(worker)
                .withHandler(worker)
                .withStrategy(options.strategy)
                .withAttachLimit(options.readyLimit));
    lastNumber++;
    worker.connect(ticket.peer(), host.segment().config());
    var process = new WorkerProcess(worker, position, options, loop);
    crew.add(process);
    try {
      process.spawn(host, ticket, line -> tell(() -> options.listener.onOutput(name, line)));
    } catch (IOException | RuntimeException e) {
      ticket.close();
      LOG.log(Level.DEBUG, "cannot start " + name, e);
      gone(worker, null, "cannot be started: " + e.getMessage());
      return;
    }
    process.limit(after(options.readyLimit, () -> endIfNotReady(worker)));
  }

  private void endIfNotReady(PooledWorker worker) {
    if (worker.state() == WorkerState.STARTING) {
      worker.end(notReady());
    }
  }

  private String notReady() {
    return "not ready within " + options.readyLimit.toMillis() + " ms";
  }

  /** A worker has become ready. Also for the thread that receives the worker's messages. */
  void ready(PooledWorker worker) {
    post(
        () -> {
          if (worker.state() != WorkerState.READY) {
            return;
          }
          tell(() -> options.listener.onReady(worker.name(), worker.peer().pid().orElse(0)));
          crew.ready(worker);
          crew.nextToLeave().ifPresent(this::replace);
          after(SERVED, () -> servesOn(worker));
          crew.processOf(worker).ifPresent(process -> process.limit(age(worker)));
        });
  }

  /** Counts from when the worker is ready: one that is still starting cannot be replaced. */
  private @Nullable TimerOperation age(PooledWorker worker) {
    Duration age = options.recycleAge;
    return age == null ? null : after(age, () -> retire(worker));
  }

  /** A worker became ready a while ago; if it still is, starting workers does work. */
  private void servesOn(PooledWorker worker) {
    if (worker.state() == WorkerState.READY) {
      crashLoop.served();
    }
  }

  /** A worker has served long enough; it goes on until another can take its place. */
  private void retire(PooledWorker worker) {
    if (worker.state() != WorkerState.READY || leaving) {
      return;
    }
    crew.processOf(worker).ifPresent(process -> process.unwanted = true);
    if (crew.hasSpareBeside(worker)) {
      crew.nextToLeave().ifPresent(this::replace);
    }
    fillUp();
  }

  private void replace(WorkerProcess process) {
    LOG.log(Level.DEBUG, "{0} is replaced", process.worker);
    process.leaving = true;
    crew.withdraw(process.worker);
    process.worker.retire();
  }

  void toldToLeave(PooledWorker worker) {
    after(
        LEAVE_LIMIT,
        () ->
            crew.processOf(worker)
                .filter(process -> !process.hasLeft)
                .ifPresent(_ -> worker.end("it was told to leave, and did not")));
  }

  void dying(PooledWorker worker, Witness witness) {
    crew.withdraw(worker);
    switch (witness) {
      case GOODBYE -> {
        crew.processOf(worker).ifPresent(process -> process.hasLeft = true);
        after(LEAVE_LIMIT, () -> endIfThere(worker)); // its own threads may keep the process alive
      }
      case TIME_LIMIT -> worker.endsFor(notReady());
      case VIOLATION -> worker.endsFor("it violated the protocol");
      case MUTEX, DOORBELL, PROCESS, HOST -> {}
    }
  }

  private void endIfThere(PooledWorker worker) {
    if (crew.processOf(worker).isPresent()) {
      worker.end("its process is still running after it left");
    }
  }

  /** Runs an action shortly, when others have had their turn. */
  void soon(Runnable action) {
    after(SOON, action);
  }

  /** Runs an action later, unless the loop has stopped by then. */
  private TimerOperation after(Duration delay, Runnable action) {
    TimerOperation timer = loop.scheduler().after(delay);
    timer.start(
        it -> {
          if (it.hasValue()) {
            action.run();
          }
        });
    return timer;
  }

  void gone(PooledWorker worker, @Nullable ExitStatus status) {
    String how = status == null ? "is gone" : status.toString();
    String why = worker.endReason();
    if (why == null && worker.readyNanos() == 0) {
      why = "before it was ready";
    }
    gone(worker, status, why == null ? how : how + " (" + why + ")");
  }

  private void gone(PooledWorker worker, @Nullable ExitStatus status, String how) {
    crew.withdraw(worker);
    crew.processOf(worker)
        .ifPresent(process -> process.afterLastWords(() -> bury(process, status, how)));
  }

  private void bury(WorkerProcess process, @Nullable ExitStatus status, String how) {
    PooledWorker worker = process.worker;
    boolean wanted = leaving || (process.leaving && process.hasLeft);
    boolean died = worker.state() != WorkerState.GONE && !wanted;
    process.limit(null);
    Death death = process.death(status, how);
    worker.calls().ended(death);
    meter.keep(worker.latencies());
    crew.remove(process);
    if (died) {
      deaths.incrementAndGet();
      crew.diedAt(process.position);
      tell(() -> options.listener.onDeath(death));
      count(worker, death);
    } else if (worker.answers() > 0) {
      crashLoop.served();
    }
    gate.changedForAll();
    if (!startsWorkers()) {
      return;
    }
    Duration pause = died ? crashLoop.pause() : Duration.ZERO;
    if (pause.isZero()) {
      post(this::fillUp); // its entry is freed once every listener knows of its end
    } else {
      fillUpAfter(pause);
    }
  }

  private void count(PooledWorker worker, Death death) {
    long ready = worker.readyNanos();
    boolean served =
        worker.answers() > 0 || (ready != 0 && System.nanoTime() - ready > SERVED.toNanos());
    if (crashLoop.died(death, served)) {
      int inARow = crashLoop.deathsInARow();
      tell(() -> options.listener.onCircuitOpen(inARow));
    }
  }

  /** Runs a listener, whose failure must not stop the pool. */
  private static void tell(Runnable listener) {
    try {
      listener.run();
    } catch (RuntimeException | Error e) { // whatever it is, the workers go on
      LOG.log(Level.ERROR, "a listener of a pool failed", e);
    }
  }
}
