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
 * Ends the process, once. The first signal that asks for it decides how; the time limit of the
 * catalog runs from that moment and covers handlers, cleanups and the JVM's own hooks. From that
 * moment on the JVM is kept alive, too, until the exit.
 */
final class Shutdown {
  /** For a signal for which the catalog gives no limit. */
  private static final Duration DEFAULT_LIMIT = Duration.ofSeconds(30);

  /** How long a handler, say with a thread dump, or a slow log may delay an immediate exit. */
  static final Duration MOMENT = Duration.ofSeconds(1);

  private final Platform platform;
  private final SignalClock clock;
  private final SignalThreads threads;
  private final ExitPort exit;
  private final Journal journal;
  private final ShutdownChain chain = new ShutdownChain();
  private final AtomicBoolean warnedOfExitCode = new AtomicBoolean();

  /** The end that is under way; guarded by this. */
  private @Nullable Ending current;

  /** How many ends there were, up to this one; guarded by this. */
  private int begun;

  /** Nothing ends any more; guarded by this. */
  private boolean closed;

  /** Called when an end is over and yet the process lives, as in a test. */
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

  /** What asked for the end that is under way. */
  Optional<Delivery> cause() {
    return current().map(Ending::cause);
  }

  private synchronized Optional<Ending> current() {
    return Optional.ofNullable(current);
  }

  /** Lets no end begin from now on, unless one is under way; whether this call has seen to it. */
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

  /** Gives up an end that is under way, and lets no other begin. */
  void abandon() {
    Optional<Ending> abandoned;
    synchronized (this) {
      abandoned = current();
      closed = true;
    }
    abandoned.ifPresent(this::over);
  }

  /** Claims the ending for this cause, unless another has it; from here on the time runs. */
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

  /** How many ends have begun: more than one in tests, where the process outlives them. */
  synchronized int begun() {
    return begun;
  }

  /** Goes through the phases of an orderly end and exits. */
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
        default -> {} // announced, and done elsewhere
      }
    }
    runSteps(ending, ShutdownPhase.CLEANUP); // also where a catalog leaves out the phase
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

  /** Exits without cleanups and hooks. */
  void exitAtOnce(Ending ending) {
    if (ending.end()) {
      lastWords(() -> tellExit(ending.cause(), ending.exitCode(), "at once"));
      halt(Optional.of(ending), ending.exitCode());
    }
  }

  /** Exits at once, whatever is under way. */
  // r[impl signals.doubletap.force]
  void force(Delivery delivery, int exitCode) {
    Optional<Ending> ending = current();
    if (ending.isEmpty() ? isClosed() : !ending.get().end()) {
      return; // it is over already
    }
    lastWords(
        () -> {
          journal.notice("Force quitting..."); // r[impl signals.doubletap.force-note]
          tellUnfinished(delivery, "not finished because the exit was forced");
          tellExit(delivery, exitCode, "forced");
        });
    halt(ending, exitCode);
  }

  /** Exits at once and says nothing, for want of memory. */
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
    } catch (Throwable e) { // the next one runs whatever it was
      journal.tellFailure(
          cause,
          "signal.cleanup_failed",
          "a cleanup failed",
          e,
          "cleanup",
          step.name,
          "error",
          Journal.textOf(e));
    } finally {
      Thread.interrupted(); // else the next one would give up whatever it waits for
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

  /** With as many decimals as it needs. */
  private static String seconds(Duration limit) {
    long millis = TimeUnit.MILLISECONDS.convert(limit); // what no clock can count is for ever
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

  /** Whatever they are stuck in, they keep the process from ending only for a moment. */
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
