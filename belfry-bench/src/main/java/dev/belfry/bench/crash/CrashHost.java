package dev.belfry.bench.crash;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.workers.Death;
import dev.belfry.workers.Delivery;
import dev.belfry.workers.PoolListener;
import dev.belfry.workers.PoolOptions;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import dev.belfry.workers.WorkerPool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A pool under load whose workers are killed. Only one worker at a time takes calls, so a call in
 * flight at a kill was with the killed worker.
 */
final class CrashHost implements AutoCloseable {
  static final int CALLERS = 8;

  private static final Duration START_LIMIT = Duration.ofSeconds(30);

  private final Path directory;
  private final WorkerPool pool;
  private final List<CrashCaller> callers = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile @Nullable Kill lastKill;

  private CrashHost(Path directory, WorkerPool pool) {
    this.directory = directory;
    this.pool = pool;
  }

  /** Starts the workers. */
  static CrashHost open() throws IOException {
    Path directory = Files.createTempDirectory("belfry-crash");
    return new CrashHost(
        directory,
        WorkerPool.open(
            PoolOptions.of(CrashWorker.command(effects(directory)))
                .workers(1)
                .spares(1)
                .listener(new Quiet())));
  }

  /** Neither logs the deaths, which are intended, nor what workers print. */
  private static final class Quiet implements PoolListener {
    @Override
    public void onDeath(Death death) {}

    @Override
    public void onOutput(String worker, String line) {
      System.err.println(worker + ": " + line);
    }
  }

  private static Path effects(Path directory) {
    return directory.resolve("effects");
  }

  /** Starts the callers. */
  void start(String method) {
    for (int i = 0; i < CALLERS; i++) {
      var caller = new CrashCaller(pool, method, i, CALLERS, () -> lastKill);
      callers.add(caller);
      threads.add(Thread.ofPlatform().name("caller-" + i).start(caller));
    }
  }

  /** How many calls have ended by now. */
  long count() {
    return callers.stream().mapToLong(CrashCaller::count).sum();
  }

  /** How many workers have died. */
  long deaths() {
    return pool.status().deaths();
  }

  /** Waits until a worker takes calls and the spare is ready, so that none is starting. */
  void awaitSpare() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (worker("ready").findAny().isEmpty() || worker("spare").findAny().isEmpty()) {
      if (System.nanoTime() - deadline >= 0) {
        throw new IOException("workers do not start: " + pool.status());
      }
      Thread.sleep(1);
    }
  }

  /** The workers in a state, without the one killed last, even if the pool does not know yet. */
  private Stream<WorkerStatus> worker(String state) {
    Kill kill = lastKill;
    return pool.status().workers().stream()
        .filter(worker -> worker.state().equals(state))
        .filter(worker -> kill == null || worker.pid() != kill.pid());
  }

  /** Kills the worker that takes calls; returns its memory in bytes, or 0 if there is none now. */
  long kill() throws IOException {
    Optional<WorkerStatus> victim = worker("ready").filter(worker -> worker.pid() != 0).findAny();
    if (victim.isEmpty()) {
      return 0;
    }
    int pid = victim.get().pid();
    long bytes = ProcessFigures.residentBytes(pid);
    lastKill = new Kill(System.nanoTime(), pid);
    try {
      Processes.kill(Sys.forAnyThread(), pid, Signo.KILL);
    } catch (ErrnoException gone) {
      return 0; // it had already ended
    }
    return bytes;
  }

  /** Stops the callers; one that does not return has lost its call. */
  void stop() throws InterruptedException {
    callers.forEach(CrashCaller::stop);
    for (int i = 0; i < CALLERS; i++) {
      if (!threads.get(i).join(CrashCaller.LATEST)) {
        callers.get(i).tally(Delivery.AT_LEAST_ONCE).lost++;
      }
    }
  }

  /** The outcome of the calls under a policy; after the end. */
  Tally tally(Delivery delivery) {
    var all = new Tally();
    callers.forEach(caller -> all.add(caller.tally(delivery)));
    return all;
  }

  /** Looks for calls carried out twice or not at all. */
  void check() throws IOException {
    Effects effects = Effects.read(effects(directory));
    callers.forEach(caller -> caller.check(effects));
  }

  @Override
  public void close() throws IOException {
    pool.close();
    Files.deleteIfExists(effects(directory));
    Files.delete(directory);
  }
}
