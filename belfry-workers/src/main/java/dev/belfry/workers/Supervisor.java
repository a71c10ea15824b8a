package dev.belfry.workers;

import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import dev.belfry.shm.PeerOptions;
import dev.belfry.shm.ShmHost;
import dev.belfry.shm.SpawnTicket;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps as many workers alive as the pool shall have: starts them, puts a spare in the place of one
 * that dies, starts another later and later while they die at once, and no more when that does not
 * end. Everything that has no other word on it is for the loop thread.
 */
final class Supervisor {
  private static final System.Logger LOG = System.getLogger(Supervisor.class.getName());

  /** Who served for so long was no part of a crash loop. */
  private static final long SERVED_NANOS = 1_000_000_000;

  /** How long to wait for the last words of a process that has ended. */
  private static final Duration LAST_WORDS = Duration.ofMillis(50);

  /** Enough for any delay, and no overflow. */
  private static final int MOST_DOUBLINGS = 20;

  private static final PooledWorker[] NOBODY = {};

  private final PoolOptions options;
  private final ShmHost host;
  private final EventLoop loop;
  private final Gate gate;
  private final Consumer<Call> again;
  private final List<Seat> seats = new ArrayList<>();
  private final List<PooledWorker> spares = new ArrayList<>();

  /** Those who get calls; replaced as a whole, so that any thread may look. */
  private volatile PooledWorker[] active = NOBODY;

  private volatile List<PooledWorker> all = List.of();
  private volatile boolean circuitOpen;
  private final AtomicInteger deathsInARow = new AtomicInteger();
  private final AtomicLong deaths = new AtomicLong();
  private volatile boolean leaving;
  private int waitingToStart;
  private int lastNumber;

  /** A worker with its output. */
  private static final class Seat {
    final PooledWorker worker;
    @Nullable WorkerOutput out;
    @Nullable WorkerOutput err;
    int pid;
    boolean unwanted;
    @Nullable Runnable whenSilent;

    Seat(PooledWorker worker) {
      this.worker = worker;
    }

    boolean isSilent() {
      return (out == null || out.isEnded()) && (err == null || err.isEnded());
    }
  }

  Supervisor(PoolOptions options, ShmHost host, Gate gate, Consumer<Call> again) {
    this.options = options;
    this.host = host;
    this.loop = host.loop();
    this.gate = gate;
    this.again = again;
  }

  // For any thread.

  PooledWorker[] active() {
    return active;
  }

  List<PooledWorker> all() {
    return all;
  }

  boolean isSpare(PooledWorker worker) {
    return worker.state() == PooledWorker.State.READY
        && Arrays.stream(active).noneMatch(it -> it == worker);
  }

  boolean isCircuitOpen() {
    return circuitOpen;
  }

  int deathsInARow() {
    return deathsInARow.get();
  }

  long deaths() {
    return deaths.get();
  }

  void start() {
    post(this::fillUp);
  }

  /** Starts workers again after a crash loop. */
  void reset() {
    post(
        () -> {
          circuitOpen = false;
          deathsInARow.set(0);
          fillUp();
        });
  }

  /** From now on nobody is started. */
  void leave() {
    leaving = true;
    gate.changedForAll();
  }

  int wantedActive() {
    return options.workers;
  }

  /** A call has left a worker. */
  void roomCame(PooledWorker worker) {
    gate.roomForOne();
    if (worker.state() == PooledWorker.State.RETIRING) {
      post(worker::leaveIfIdle);
    }
  }

  void answered(PooledWorker worker) {
    if (worker.finished() == limitOf(worker)) {
      post(() -> retire(worker));
    }
  }

  /** Not the same for all, so that they do not all go at the same time. */
  private long limitOf(PooledWorker worker) {
    long calls = options.recycleCalls;
    return calls == Long.MAX_VALUE
        ? calls
        : calls + Math.floorMod(worker.hashCode(), calls / 10 + 1);
  }

  void again(Call call) {
    again.accept(call);
  }

  void deadLetter(Call call, DeadLetter letter) {
    if (call.fail(letter)) {
      tell(() -> options.listener.onDeadLetter(letter));
    }
  }

  /** If the worker still has that call when the limit is over, it is killed. */
  void watchStuck(PooledWorker worker, long id) {
    post(
        () ->
            loop.scheduler()
                .after(options.stuckLimit)
                .start(
                    _ -> {
                      if (worker.isStillAt(id)) {
                        stuck(worker, "it goes on with a call that was given up");
                      }
                    }));
  }

  void stuck(PooledWorker worker, String why) {
    LOG.log(Level.WARNING, "{0} is stuck: {1}", worker, why);
    worker.peer().disconnect("stuck: " + why);
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
    int wanted = options.workers + options.spares;
    while (!leaving && !circuitOpen && wantedSeats() + waitingToStart < wanted) {
      try {
        startOne();
      } catch (IOException e) { // all entries are still held by workers that are about to end
        LOG.log(Level.WARNING, "no room for another worker yet", e);
        fillUpAfter(options.firstDelay);
      }
    }
  }

  private long wantedSeats() {
    return seats.stream().filter(seat -> !seat.unwanted).count();
  }

  private void fillUpAfter(Duration delay) {
    waitingToStart++;
    loop.scheduler()
        .after(delay)
        .start(
            _ -> {
              waitingToStart--;
              fillUp();
            });
  }

  private void startOne() throws IOException {
    String name = options.name + "-" + ++lastNumber;
    var worker = new PooledWorker(name, this, options.callsPerWorker, options.attempts);
    SpawnTicket ticket =
        host.addPeer(
            PeerOptions.DEFAULT
                .withName(name)
                .withListener(worker)
                .withHandler(worker)
                .withStrategy(options.strategy)
                .withAttachLimit(options.readyLimit));
    worker.connect(ticket.peer(), host.segment().config());
    var seat = new Seat(worker);
    seats.add(seat);
    all = seats.stream().map(it -> it.worker).toList();
    try {
      spawn(seat, ticket);
    } catch (IOException e) {
      ticket.close();
      LOG.log(Level.DEBUG, "cannot start " + name, e);
      gone(worker, null, "cannot be started: " + e.getMessage());
      return;
    }
    loop.scheduler().after(options.readyLimit).start(_ -> endIfNotReady(worker));
    if (options.recycleAge != null) {
      loop.scheduler().after(options.recycleAge).start(_ -> retire(worker));
    }
  }

  private void spawn(Seat seat, SpawnTicket ticket) throws IOException {
    Sys sys = Sys.forAnyThread();
    Pipe out = Pipe.open(sys, true);
    Pipe err = Pipe.open(sys, true);
    try (var _ = out.writer();
        var _ = err.writer()) {
      Consumer<String> lines =
          line -> tell(() -> options.listener.onOutput(seat.worker.name(), line));
      seat.out = new WorkerOutput(loop, out.reader(), lines, () -> silent(seat));
      seat.err = new WorkerOutput(loop, err.reader(), lines, () -> silent(seat));
      host.spawn(options.command, ticket, spawn -> dress(spawn, out, err));
      seat.pid = ticket.peer().pid().orElse(0);
      seat.out.start();
      seat.err.start();
    }
  }

  private Spawn dress(Spawn spawn, Pipe out, Pipe err) {
    if (options.directory != null) {
      spawn.directory(options.directory);
    }
    return spawn
        .environment(options.environment)
        .standard(1, out.writer().number())
        .standard(2, err.writer().number());
  }

  private void endIfNotReady(PooledWorker worker) {
    if (worker.state() == PooledWorker.State.STARTING) {
      worker.peer().disconnect("not ready within " + options.readyLimit);
    }
  }

  /** Also called by whoever reads the worker's messages. */
  void ready(PooledWorker worker) {
    post(
        () -> {
          if (worker.state() != PooledWorker.State.READY) {
            return;
          }
          tell(() -> options.listener.onReady(worker.name(), worker.peer().pid().orElse(0)));
          if (active.length < options.workers) {
            activate(worker);
          } else {
            spares.add(worker);
          }
        });
  }

  private void activate(PooledWorker worker) {
    active = Stream.concat(Arrays.stream(active), Stream.of(worker)).toArray(PooledWorker[]::new);
    gate.changedForAll();
  }

  /** Takes a worker out of those that get calls; a spare takes its place at once. */
  private void withdraw(PooledWorker worker) {
    spares.remove(worker);
    int before = active.length;
    active = Arrays.stream(active).filter(it -> it != worker).toArray(PooledWorker[]::new);
    if (active.length < before && !spares.isEmpty()) {
      activate(spares.removeFirst());
    }
    gate.changedForAll();
  }

  private void retire(PooledWorker worker) {
    if (worker.state() != PooledWorker.State.READY || leaving) {
      return;
    }
    LOG.log(Level.DEBUG, "{0} is replaced", worker);
    seatOf(worker).ifPresent(seat -> seat.unwanted = true);
    withdraw(worker);
    worker.retire();
    fillUp();
  }

  void dying(PooledWorker worker) {
    withdraw(worker);
  }

  void gone(PooledWorker worker, @Nullable ExitStatus status) {
    gone(worker, status, status == null ? "is gone" : status.toString());
  }

  private void gone(PooledWorker worker, @Nullable ExitStatus status, String how) {
    withdraw(worker);
    Optional<Seat> found = seatOf(worker);
    if (found.isEmpty()) {
      return;
    }
    Seat seat = found.get();
    Runnable bury = () -> bury(seat, status, how);
    if (seat.isSilent()) {
      bury.run();
    } else {
      seat.whenSilent = bury;
      loop.scheduler().after(LAST_WORDS).start(_ -> shut(seat));
    }
  }

  private void silent(Seat seat) {
    Runnable waiting = seat.whenSilent;
    if (seat.isSilent() && waiting != null) {
      seat.whenSilent = null;
      waiting.run();
    }
  }

  /** A child of the worker may hold its output and live on. */
  private void shut(Seat seat) {
    if (seat.out != null) {
      seat.out.close();
    }
    if (seat.err != null) {
      seat.err.close();
    }
    silent(seat);
  }

  private void bury(Seat seat, @Nullable ExitStatus status, String how) {
    PooledWorker worker = seat.worker;
    boolean wanted = worker.state() != PooledWorker.State.GONE && !seat.unwanted && !leaving;
    String tail = seat.err == null ? "" : seat.err.tail();
    int code = status == null ? -1 : status.shellCode();
    Death death = Death.of(worker.name(), seat.pid, code, how, tail, crashFile(seat.pid));
    worker.ended(death);
    seats.remove(seat);
    all = seats.stream().map(it -> it.worker).toList();
    if (wanted) {
      deaths.incrementAndGet();
      tell(() -> options.listener.onDeath(death));
      count(worker);
    }
    gate.changedForAll();
    if (circuitOpen || leaving) {
      return;
    }
    Duration delay = wanted ? delay() : Duration.ZERO;
    if (delay.isZero()) {
      fillUp();
    } else {
      fillUpAfter(delay);
    }
  }

  private void count(PooledWorker worker) {
    long ready = worker.readyNanos();
    boolean served =
        worker.finished() > 0 || (ready != 0 && System.nanoTime() - ready > SERVED_NANOS);
    int inARow = deathsInARow.updateAndGet(count -> served ? 0 : count + 1);
    if (inARow >= options.crashLimit && !circuitOpen) {
      circuitOpen = true;
      tell(() -> options.listener.onCircuitOpen(inARow));
    }
  }

  /** Twice as long for each death in a row, and not all at the same time. */
  private Duration delay() {
    int inARow = deathsInARow.get();
    if (inARow == 0) {
      return Duration.ZERO;
    }
    int doublings = Math.min(inARow - 1, MOST_DOUBLINGS);
    long whole =
        Math.min(options.longestDelay.toMillis(), options.firstDelay.toMillis() << doublings);
    return Duration.ofMillis(ThreadLocalRandom.current().nextLong(whole / 2, whole + 1));
  }

  private Optional<Path> crashFile(int pid) {
    String name = "hs_err_pid" + pid + ".log";
    return Stream.of(options.crashDirectory, options.directory, Path.of(""))
        .filter(directory -> directory != null)
        .map(directory -> directory.resolve(name))
        .filter(Files::exists)
        .findFirst();
  }

  private Optional<Seat> seatOf(PooledWorker worker) {
    return seats.stream().filter(seat -> seat.worker == worker).findFirst();
  }

  /** What others do wrong must not stop the pool. */
  private static void tell(Runnable listener) {
    try {
      listener.run();
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, "a listener of a pool failed", e);
    }
  }
}
