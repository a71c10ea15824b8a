package dev.belfry.workers;

import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.Fd;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.TimerOperation;
import dev.belfry.shm.ShmHost;
import dev.belfry.shm.SpawnTicket;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A worker's process and its output. For the loop thread. */
final class WorkerProcess {
  /** How long to wait for the last output of a process that has ended. */
  private static final Duration LAST_WORDS = Duration.ofMillis(50);

  final PooledWorker worker;

  /** Its position in the crew, which passes to its successor. */
  final int position;

  /** It has served long enough: a successor is to have its position. */
  boolean unwanted;

  /** It was told to leave. */
  boolean leaving;

  /** It has left in good order; if it was told to, its end is not a death. */
  boolean hasLeft;

  /** In whole seconds, because a file system may keep times no finer. */
  private final Instant started = Instant.now().truncatedTo(ChronoUnit.SECONDS);

  private final PoolOptions options;
  private final EventLoop loop;
  private @Nullable WorkerOutput out;
  private @Nullable WorkerOutput err;
  private int pid;
  private @Nullable Runnable whenSilent;

  /** Limits the time it has to become ready; after that, the time it may serve, if limited. */
  private @Nullable TimerOperation limit;

  WorkerProcess(PooledWorker worker, int position, PoolOptions options, EventLoop loop) {
    this.worker = worker;
    this.position = position;
    this.options = options;
    this.loop = loop;
  }

  /** Starts the process. */
  void spawn(ShmHost host, SpawnTicket ticket, Consumer<String> lines) throws IOException {
    Sys sys = Sys.forAnyThread();
    Pipe outPipe = Pipe.open(sys, true);
    try (var _ = outPipe.writer()) {
      out = new WorkerOutput(loop, outPipe.reader(), lines, this::lookIfSilent);
      Pipe errPipe = Pipe.open(sys, true);
      try (var _ = errPipe.writer()) {
        err = new WorkerOutput(loop, errPipe.reader(), lines, this::lookIfSilent);
        spawn(sys, host, ticket, outPipe.writer(), errPipe.writer());
        pid = ticket.peer().pid().orElse(0);
        err.start();
      }
      out.start();
    }
  }

  /** Starts the process with an empty standard input: ours is not meant for workers. */
  private void spawn(Sys sys, ShmHost host, SpawnTicket ticket, Fd outEnd, Fd errEnd)
      throws IOException {
    try (Fd nothing = OpenFile.open(sys, Path.of("/dev/null"), OpenFlags.READ_ONLY, 0)) {
      host.spawn(
          options.command,
          ticket,
          spawn ->
              inItsPlace(spawn)
                  .standard(0, nothing.number())
                  .standard(1, outEnd.number())
                  .standard(2, errEnd.number()));
    }
  }

  private Spawn inItsPlace(Spawn spawn) {
    if (options.directory != null) {
      spawn.directory(options.directory);
    }
    options.environment.forEach(spawn::variable);
    return spawn;
  }

  /** Replaces or lifts the time limit. A timer left running would keep this object in memory. */
  void limit(@Nullable TimerOperation next) {
    if (limit != null) {
      limit.cancel();
    }
    limit = next;
  }

  /** The process has ended: runs an action as soon as all its output has been read. */
  void afterLastWords(Runnable action) {
    if (isSilent()) {
      action.run();
    } else {
      whenSilent = action;
      loop.scheduler().after(LAST_WORDS).start(_ -> shut());
    }
  }

  private boolean isSilent() {
    return (out == null || out.isEnded()) && (err == null || err.isEnded());
  }

  private void lookIfSilent() {
    Runnable waiting = whenSilent;
    if (isSilent() && waiting != null) {
      whenSilent = null;
      waiting.run();
    }
  }

  /** Stops reading: a child of the worker may live on and hold its output open. */
  private void shut() {
    if (out != null) {
      out.close();
    }
    if (err != null) {
      err.close();
    }
    lookIfSilent();
  }

  /** How it ended. */
  Death death(@Nullable ExitStatus status, String how) {
    String tail = err == null ? "" : err.tail();
    int code = status == null ? -1 : status.shellCode();
    boolean coreDumped = status != null && status.coreDumped();
    var files = new CrashFiles(options, CrashFiles.CORE_PATTERN);
    return Death.of(worker.name(), pid, code, how, tail, files.find(pid, started, coreDumped));
  }
}
