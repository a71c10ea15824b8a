package dev.belfry.signals;

import java.lang.System.Logger.Level;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Shuts the process down, once. The first request decides how. From that moment, the catalog's time
 * limit runs, covering handlers, cleanups and the JVM's shutdown hooks, and the JVM is kept alive
 * until the exit.
 */
final class Shutdown {
  /** For a signal without a time limit in the catalog. */
  private static final Duration DEFAULT_LIMIT = Duration.ofSeconds(30);

  /** How long a handler (writing a thread dump, say) or a slow log may delay an immediate exit. */
  static final Duration MOMENT = Duration.ofSeconds(1);

  private final Platform platform;
  private final SignalClock clock;
  private final SignalThreads threads;
  private final ExitPort exit;
  private final Journal journal;
  private final ShutdownChain chain = new ShutdownChain();
  private final AtomicBoolean warnedOfExitCode = new AtomicBoolean();

  /** The shutdown under way; guarded by this. */
  private @Nullable Ending current;

  /** The number of shutdowns begun so far; guarded by this. */
  private int begun;

  /** Whether no further shutdown may begin; guarded by this. */
  private boolean closed;

  /** Called when a shutdown is over but the process lives on, as in a test. */
  private final Runnable beginAnew;

  Shutdown(
      Platform platform,
      SignalClock clock,
      SignalThreads threads,
      ExitPort exit,
      Journal journal,
      Runnable beginAnew) {
    this.platform = platform;
    this.clock = clock;
    this.threads = threads;
    this.exit = exit;
    this.journal = journal;
    this.beginAnew = beginAnew;
  }

  ShutdownChain chain() {
    return chain;
  }

  /** The cause of the shutdown under way. */
  Optional<Delivery> cause() {
    return current().map(Ending::cause);
  }

  private synchronized Optional<Ending> current() {
    return Optional.ofNullable(current);
  }

  /** Prevents any shutdown from now on, unless one is under way; true if this call did so. */
  synchronized boolean close() {
    if (closed || current != null) {
      return false;
    }
    closed = true;
    return true;
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  /** Abandons a shutdown that is under way, and prevents any other. */
  void abandon() {
    Optional<Ending> abandoned;
    synchronized (this) {
      abandoned = current();
      closed = true;
    }
    abandoned.ifPresent(this::over);
  }

  /** Begins a shutdown and starts its time limit; empty if one is already under way or closed. */
  Optional<Ending> claim(Delivery cause) {
    Signal signal = cause.signal();
    return claim(cause, signal.timeout().orElse(DEFAULT_LIMIT));
  }

  // r[impl signals.timeout.catalog]
  Optional<Ending> claim(Delivery cause, Duration limit) {
    var ending = new Ending(cause, cause.signal().exitCode(platform));
    if (!begin(ending)) {
      return Optional.empty();
    }
    ending.limit(clock.after(limit, () -> expire(ending, limit)));
    ending.keepAlive();
    return Optional.of(ending);
  }

  private synchronized boolean begin(Ending ending) {
    if (current != null || closed) {
      return false;
    }
    current = ending;
    begun++;
    return true;
  }

  /**
   * The number of shutdowns begun; more than one only in tests, where the process outlives them.
   */
  synchronized int begun() {
    return begun;
  }

  /** Runs the phases of a graceful shutdown and exits. */
  void run(Ending ending, List<String> phases) {
    for (String phase : phases) {
      if (ending.isOver()) {
        return;
      }
      journal.phase(ending.cause(), phase);
      switch (phase) {
        case "stop_accepting" -> runSteps(ending, ShutdownPhase.STOP_ACCEPTING);
        case "drain" -> runSteps(ending, ShutdownPhase.DRAIN);
        case "cleanup", "graceful_shutdown" -> runSteps(ending, ShutdownPhase.CLEANUP);
        default -> {} // only announced here; carried out elsewhere
      }
    }
    runSteps(ending, ShutdownPhase.CLEANUP); // even if the catalog omits the phase
    if (ending.beginExit()) {
      tellExit(ending.cause(), ending.exitCode(), "in good order");
      journal.flush(MOMENT);
      try {
        exit.exit(ending.exitCode());
      } finally {
        over(ending);
      }
    }
  }

  /** Exits immediately, without cleanups and shutdown hooks. */
  void exitAtOnce(Ending ending) {
    if (ending.end()) {
      lastWords(() -> tellExit(ending.cause(), ending.exitCode(), "at once"));
      halt(Optional.of(ending), ending.exitCode());
    }
  }

  /** Exits immediately, whatever is under way. */
  // r[impl signals.doubletap.force]
  void force(Delivery delivery, int exitCode) {
    Optional<Ending> ending = current();
    if (ending.isEmpty() ? isClosed() : !ending.get().end()) {
      return; // already over
    }
    lastWords(
        () -> {
          journal.notice("Force quitting..."); // r[impl signals.doubletap.force-note]
          tellUnfinished(delivery, "not finished because the exit was forced");
          tellExit(delivery, exitCode, "forced");
        });
    halt(ending, exitCode);
  }

  /** Exits immediately without logging, for when memory has run out. */
  void haltSilently(int exitCode) {
    halt(current(), exitCode);
  }

  private void halt(Optional<Ending> ending, int exitCode) {
    try {
      exit.halt(exitCode);
    } finally {
      ending.ifPresent(this::over);
    }
  }

  private void runSteps(Ending ending, ShutdownPhase last) {
    Delivery cause = ending.cause();
    for (ShutdownPhase phase : ShutdownPhase.values()) {
      if (phase.compareTo(last) > 0 || !chain.hasAny(phase)) {
        continue;
      }
      String name = SignalNames.lowerCase(phase.name());
      journal.tell(Level.INFO, cause, "signal.steps_started", "started " + name, "steps", name);
      while (!ending.isOver()) {
        Optional<ShutdownChain.Step> step = chain.takeLast(phase);
        if (step.isEmpty()) {
          break;
        }
        run(cause, step.get());
      }
      journal.tell(Level.INFO, cause, "signal.steps_finished", "finished " + name, "steps", name);
    }
  }

  private void run(Delivery cause, ShutdownChain.Step step) {
    try {
      step.action.run();
    } catch (Throwable e) { // whatever it is, the next cleanup must run
      journal.tellFailure(
          cause,
          "signal.cleanup_failed",
          "a cleanup failed",
          e,
          "cleanup",
          step.name,
          "error",
          SignalRecord.textOf(e));
    } finally {
      Thread.interrupted(); // otherwise the next cleanup's first wait would fail
    }
  }

  private void expire(Ending ending, Duration limit) {
    if (ending.end()) {
      Delivery cause = ending.cause();
      lastWords(
          () -> {
            tellUnfinished(cause, "not finished after " + seconds(limit) + " s");
            tellExit(cause, ending.exitCode(), "time limit");
          });
      halt(Optional.of(ending), ending.exitCode());
    }
  }

  /** The limit in seconds, with as many decimals as needed. */
  private static String seconds(Duration limit) {
    long millis = TimeUnit.MILLISECONDS.convert(limit); // saturates
    return BigDecimal.valueOf(millis, 3).stripTrailingZeros().toPlainString();
  }

  private void over(Ending ending) {
    ending.end();
    synchronized (this) {
      if (current == ending) {
        current = null;
      }
    }
    beginAnew.run();
    ending.cause().done().complete(null);
    ending.letGo();
  }

  /** Writes the last records; if that blocks, it delays the exit only briefly. */
  private void lastWords(Runnable words) {
    threads.briefly(
        () -> {
          words.run();
          journal.flush(MOMENT);
        });
  }

  private void tellUnfinished(Delivery delivery, String message) {
    List<String> names = chain.unfinished();
    if (!names.isEmpty()) {
      journal.record(
          Level.WARNING,
          delivery,
          "signal.unfinished",
          message,
          "cleanups",
          String.join(", ", names));
    }
  }

  private void tellExit(Delivery delivery, int exitCode, String how) {
    String code = Integer.toString(exitCode);
    if (!platform.hasSignalExitCodes() && warnedOfExitCode.compareAndSet(false, true)) {
      journal.record(
          Level.WARNING,
          delivery,
          "signal.exit_code_unusual",
          "exit codes of 128 plus the number mean nothing to " + platform.id(),
          "platform",
          platform.id(),
          "exit_code",
          code);
    }
    journal.tell(Level.INFO, delivery, "signal.exit", "exiting", "exit_code", code, "how", how);
  }
}
