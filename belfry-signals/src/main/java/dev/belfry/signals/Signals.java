package dev.belfry.signals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The signals of a process. From {@link #open()} on, each does what the catalog says: TERM shuts
 * down gracefully, so does INT, which forces the exit when it comes twice, and HUP checks the new
 * configuration and exits to be restarted with it. The program adds its own actions.
 *
 * {@snippet :
 * Signals signals = Signals.open();
 * signals.onShutdown("the store", store::close);
 * signals.onReload(() -> Config.load(file).problems());
 * signals.handle("USR1", signal -> logs.reopen());
 * }
 *
 * <p>Once a signal has begun to end the process, the JVM is kept alive until the exit. The
 * program's own threads may all end meanwhile, main included: every cleanup still runs and the exit
 * code is that of the signal. Only a program that calls {@link System#exit} itself exits then, with
 * its own code. When nothing is shutting down, this class keeps no JVM alive.
 *
 * <p>All methods may be called at any time from any thread. Handlers and cleanups run on threads of
 * the library. A process has one {@code Signals} at a time; another can be opened only after it was
 * closed. Tests open any number with {@link SignalsTesting}, which touch neither the operating
 * system nor the process.
 */
// r[impl signals.lib.module]
// r[impl signals.deps.callbacks]
public final class Signals implements AutoCloseable {
  private final SignalCatalog catalog;
  private final Platform platform;
  private final SignalClock clock;
  private final SignalThreads threads;
  private final Journal journal;
  private final SignalRouter router;
  private final SignalSource source;
  private final Subscriptions subscriptions;

  /** Lets others have the signals. */
  private final Runnable release;

  Signals(SignalsBuilder builder, Runnable release) {
    this.release = release;
    catalog = builder.catalog;
    List<Signal> handled = builder.first.stream().map(it -> catchable(find(it.signal()))).toList();
    platform = builder.platform;
    clock = builder.clock != null ? builder.clock : new SystemClock();
    threads = new SignalThreads();
    journal = new Journal(builder.log, builder.telemetry);
    router = new SignalRouter(catalog, platform, clock, threads, builder.exit, journal);
    source = builder.source != null ? builder.source : Sources.best(platform, journal);
    subscriptions = new Subscriptions(catalog, platform, source, router, journal);
    // What is registered with the builder misses no signal: one may have come already, and is
    // delivered as soon as it is subscribed to.
    var awaited = new ArrayList<Signal>(handled);
    if (builder.validator != null) {
      router.reload().validator(builder.validator);
      awaited.addAll(reloads());
    }
    for (int i = 0; i < handled.size(); i++) {
      register(handled.get(i), builder.first.get(i).handler().apply(this));
    }
    subscriptions.start();
    awaited.forEach(subscriptions::prepare);
  }

  /**
   * Receives the signals of this process from now on, with the catalog of the library.
   *
   * @throws IllegalStateException if they are open already; the message says where
   */
  public static Signals open() {
    return builder().open();
  }

  /**
   * For another catalog, log, telemetry or exit, and for what a signal that has come already is to
   * find registered.
   */
  public static SignalsBuilder builder() {
    return new SignalsBuilder();
  }

  /** The signal that a text means in the catalog of the library; see {@link SignalCatalog}. */
  public static Optional<Signal> resolve(@Nullable String text) {
    return SignalCatalog.bundled().resolve(text);
  }

  /** All names in the catalog of the library. */
  public static List<String> list() {
    return SignalCatalog.bundled().names();
  }

  /** The names in the catalog of the library that a glob matches. */
  public static List<String> match(String glob) {
    return SignalCatalog.bundled().match(glob);
  }

  /** The catalog in use. */
  public SignalCatalog catalog() {
    return catalog;
  }

  /**
   * Whether this platform has the signal. False for what is in no catalog. Whether it can come to
   * this process is another question: {@link #receivable}.
   */
  // r[impl signals.supports.api]
  // r[impl signals.supports.true]
  // r[impl signals.supports.false]
  // r[impl signals.supports.before-register]
  public boolean supports(String signal) {
    return catalog.supports(signal, platform);
  }

  /** Whether the signal can come to this process by the source in use, and if not, why. */
  public Receivable receivable(Signal signal) {
    return new Receivable(signal, subscriptions.obstacle(signal));
  }

  /**
   * Calls a handler whenever the signal comes, before what the catalog says about it, which then
   * goes on. Where the signal cannot come, the registration is inactive and says why; that is
   * logged and is not an error.
   *
   * @throws IllegalArgumentException if the signal is in no catalog or cannot be caught anywhere
   */
  public SignalRegistration handle(String signal, SignalHandler handler) {
    return handle(find(signal), handler);
  }

  /** The same with a signal of this catalog. */
  public SignalRegistration handle(Signal signal, SignalHandler handler) {
    SignalRegistration registration = register(catchable(signal), handler);
    subscriptions.prepare(signal);
    return registration;
  }

  private SignalRegistration register(Signal signal, SignalHandler handler) {
    return router.handlers().add(signal, handler, () -> subscriptions.obstacle(signal));
  }

  private static Signal catchable(Signal signal) {
    if (!signal.isCatchable()) {
      throw new IllegalArgumentException(signal + " cannot be caught by any program");
    }
    return signal;
  }

  /** Registers a cleanup for a graceful shutdown, in the phase {@link ShutdownPhase#CLEANUP}. */
  public Registration onShutdown(String name, Cleanup cleanup) {
    return onShutdown(ShutdownPhase.CLEANUP, name, cleanup);
  }

  /**
   * Registers a cleanup for a graceful shutdown. Within a phase, the one registered last runs
   * first. Each runs at most once, whatever the others do. Together they have the time that the
   * catalog gives the signal; then the process exits regardless.
   *
   * @param name what it is, for messages
   * @return removes it again when closed
   */
  public Registration onShutdown(ShutdownPhase phase, String name, Cleanup cleanup) {
    var step = new ShutdownChain.Step(phase, name, cleanup);
    router.shutdown().chain().add(step);
    return () -> router.shutdown().chain().remove(step);
  }

  /** Sets how a new configuration is checked; without it every reload is rejected. */
  public void onReload(ReloadValidator validator) {
    router.reload().validator(validator);
    reloads().forEach(subscriptions::prepare);
  }

  private List<Signal> reloads() {
    return catalog.signals().stream()
        .filter(signal -> signal.behavior() == Behavior.RELOAD_VIA_RESTART)
        .toList();
  }

  /** How many reloads have failed since the last good one. */
  public int reloadFailures() {
    return router.reload().failures();
  }

  /**
   * Raises a signal inside the program, because somebody who is allowed to asked for it; even one
   * that this platform lacks. Returns at once.
   *
   * @param origin who asked, for the log
   * @param reason why, for the log; may be empty
   * @param correlationId what the records about it are to have in common
   */
  // r[impl signals.fallback.http-instead]
  public void raise(Signal signal, String origin, String reason, String correlationId) {
    if (!signal.isCatchable()) {
      throw new IllegalArgumentException(signal + " cannot be raised inside a program");
    }
    var _ = router.receive(new Delivery(signal, origin, reason, correlationId));
  }

  /**
   * Shuts down gracefully, with the exit code of that signal. For a program that wants to end on a
   * signal that does not end it anyway, such as PIPE, or from a handler. Returns at once; does
   * nothing if the process is ending already.
   */
  // r[impl signals.register.may-exit]
  public void shutdown(Signal signal) {
    router.endBecauseAsked(new Delivery(signal, "program"));
  }

  /** Whether the process is ending, because of a signal or because the program asked for it. */
  public boolean isShuttingDown() {
    return router.isEnding();
  }

  /** Runs something once, when the first of these signals comes: cancels work, requests a stop. */
  // r[impl signals.cancel.bridge]
  public Registration cancel(List<String> signals, Runnable cancellation) {
    return once(signals, _ -> cancellation.run());
  }

  /** Completes with the next of these signals; cancelling the future gives it up. */
  public CompletableFuture<Signal> next(String... signals) {
    var next = new CompletableFuture<Signal>();
    Registration registration = once(List.of(signals), next::complete);
    var _ = next.whenComplete((_, _) -> registration.close());
    return next;
  }

  /** Interrupts a thread when the first of these signals comes. */
  public Registration interrupt(Thread thread, String... signals) {
    return once(List.of(signals), _ -> thread.interrupt());
  }

  private Registration once(List<String> names, SignalHandler action) {
    // All, before any is registered.
    List<Signal> signals = names.stream().map(it -> catchable(find(it))).toList();
    var first = new AtomicBoolean(true);
    SignalHandler once =
        signal -> {
          if (first.getAndSet(false)) {
            action.handle(signal);
          }
        };
    List<SignalRegistration> registrations = signals.stream().map(it -> handle(it, once)).toList();
    return () -> registrations.forEach(SignalRegistration::close);
  }

  /**
   * Writes a record to the log, after those of the signals so far and before those that come: what
   * a handler writes in any other way may come out of turn, because nobody waits for the log.
   */
  public void log(SignalRecord record) {
    journal.record(record);
  }

  /**
   * Gives the signals back. Registered handlers are no longer called. Waits for the log to be
   * written, for a second at most.
   *
   * <p>While the process is ending it does nothing, so that the end of a program that closes this
   * on its way out is as any other: all cleanups run, within the time limit, Ctrl+C twice still
   * forces the exit, and the exit code is that of the signal.
   */
  @Override
  public void close() {
    if (isShuttingDown()) {
      return;
    }
    giveBack();
    if (router.shutdown().close()) { // else a signal has come meanwhile, or it was closed before
      closeRest();
    }
  }

  /** Closes in any case, and gives up an end that is under way. */
  void abandon() {
    router.shutdown().abandon();
    giveBack();
    closeRest();
  }

  private void giveBack() {
    subscriptions.close();
    release.run();
  }

  private void closeRest() {
    threads.close();
    clock.close();
    journal.flush(Shutdown.MOMENT);
    journal.close();
  }

  /** Waits until all records so far are written. */
  void flushLog(Duration limit) {
    journal.flush(limit);
  }

  /** As if the operating system had delivered the signal: nothing comes where it could not. */
  // r[impl signals.inject.same-path]
  // r[impl signals.fallback.inject-inert]
  CompletableFuture<Void> inject(Signal signal) {
    return subscriptions.obstacle(signal).isEmpty()
        ? router.receive(new Delivery(signal, source.name()))
        : CompletableFuture.completedFuture(null);
  }

  /** How many handlers there are that the operating system can reach. */
  long activeHandlers(Signal signal) {
    return router.handlers().active(signal);
  }

  private Signal find(String signal) {
    return catalog
        .resolve(signal)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "there is no signal '"
                        + signal
                        + "' in the catalog, which has "
                        + catalog.names()));
  }
}
