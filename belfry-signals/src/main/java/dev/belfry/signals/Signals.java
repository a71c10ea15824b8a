package dev.belfry.signals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The signals of a process. Once {@linkplain #open() opened}, every signal has the behaviour that
 * the catalog defines: TERM shuts down gracefully; so does INT, and a second INT forces the exit;
 * HUP validates the new configuration and exits so that a supervisor restarts the process with it.
 * The program adds its own actions.
 *
 * {@snippet :
 * Signals signals = Signals.open();
 * signals.onShutdown("the store", store::close);
 * signals.onReload(() -> Config.load(file).problems());
 * signals.handle("USR1", signal -> logs.reopen());
 * }
 *
 * <p>Once a shutdown has begun, the JVM is kept alive until the exit. The program's own threads,
 * main included, may all end in the meantime: every cleanup still runs, and the exit code is that
 * of the signal. Only a direct call to {@link System#exit} ends the process earlier, with the code
 * passed to it. While no shutdown is under way, this class does not keep the JVM alive.
 *
 * <p>All methods are thread-safe and may be called at any time. Handlers and cleanups run on the
 * library's threads. A process has at most one open {@code Signals}; close it before opening
 * another. Tests open as many as they like through {@link SignalsTesting}, which touches neither
 * the operating system nor the process.
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

  /** Releases this process's claim on its signals. */
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
    // Register what the builder holds before subscribing: a signal that is already pending is
    // delivered as soon as it is subscribed to, and must not be missed.
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
   * Starts receiving the signals of this process, with the bundled catalog.
   *
   * @throws IllegalStateException if they are already open; the message says where
   */
  public static Signals open() {
    return builder().open();
  }

  /**
   * Returns a builder, to replace the catalog, log, telemetry or exit, and to register handlers
   * that a signal which is already pending must not miss.
   */
  public static SignalsBuilder builder() {
    return new SignalsBuilder();
  }

  /** Resolves a signal against the bundled catalog; see {@link SignalCatalog#resolve}. */
  public static Optional<Signal> resolve(@Nullable String text) {
    return SignalCatalog.bundled().resolve(text);
  }

  /** All signal names in the bundled catalog. */
  public static List<String> list() {
    return SignalCatalog.bundled().names();
  }

  /** The signal names in the bundled catalog that match a glob. */
  public static List<String> match(String glob) {
    return SignalCatalog.bundled().match(glob);
  }

  /** The catalog in use. */
  public SignalCatalog catalog() {
    return catalog;
  }

  /**
   * Whether this platform has the signal; false if the catalog does not have it. Whether this
   * process can receive the signal is a separate question: see {@link #receivable}.
   */
  // r[impl signals.supports.api]
  // r[impl signals.supports.true]
  // r[impl signals.supports.false]
  // r[impl signals.supports.before-register]
  public boolean supports(String signal) {
    return catalog.supports(signal, platform);
  }

  /** Whether this process can receive the signal from the source in use, and if not, why. */
  public Receivable receivable(Signal signal) {
    return new Receivable(signal, subscriptions.obstacle(signal));
  }

  /**
   * Calls a handler each time the signal arrives, before the catalog's behaviour, which still
   * follows. If the signal cannot be received, the registration is inactive and says why; that is
   * logged and is not an error.
   *
   * @throws IllegalArgumentException if the signal is not in the catalog or cannot be caught on any
   *     platform
   */
  public SignalRegistration handle(String signal, SignalHandler handler) {
    return handle(find(signal), handler);
  }

  /** Same as {@link #handle(String, SignalHandler)}, for a signal of this catalog. */
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

  /** Registers a cleanup for graceful shutdown, in phase {@link ShutdownPhase#CLEANUP}. */
  public Registration onShutdown(String name, Cleanup cleanup) {
    return onShutdown(ShutdownPhase.CLEANUP, name, cleanup);
  }

  /**
   * Registers a cleanup for graceful shutdown. Within a phase, cleanups run in reverse order of
   * registration, each at most once, even if others fail. All of them together share the signal's
   * time limit from the catalog, after which the process exits regardless.
   *
   * @param name names the cleanup in messages
   * @return a registration that removes the cleanup when closed
   */
  public Registration onShutdown(ShutdownPhase phase, String name, Cleanup cleanup) {
    var step = new ShutdownChain.Step(phase, name, cleanup);
    router.shutdown().chain().add(step);
    return () -> router.shutdown().chain().remove(step);
  }

  /** Sets the validator for new configurations; without one, every reload is rejected. */
  public void onReload(ReloadValidator validator) {
    router.reload().validator(validator);
    reloads().forEach(subscriptions::prepare);
  }

  private List<Signal> reloads() {
    return catalog.signals().stream()
        .filter(signal -> signal.behavior() == Behavior.RELOAD_VIA_RESTART)
        .toList();
  }

  /** The number of failed reloads since the last successful one. */
  public int reloadFailures() {
    return router.reload().failures();
  }

  /**
   * Raises a signal inside the program on behalf of an authorised requester, even a signal that
   * this platform lacks. Returns immediately.
   *
   * @param origin who requested it, for the log
   * @param reason why it was requested, for the log; may be empty
   * @param correlationId the id that all records about this signal carry
   */
  // r[impl signals.fallback.http-instead]
  public void raise(Signal signal, String origin, String reason, String correlationId) {
    if (!signal.isCatchable()) {
      throw new IllegalArgumentException(signal + " cannot be raised inside a program");
    }
    var _ = router.receive(new Delivery(signal, origin, reason, correlationId));
  }

  /**
   * Shuts down gracefully, with the exit code of the given signal. For a program that wants to end
   * from a handler, or on a signal that by itself would not end it, such as PIPE. Returns
   * immediately; does nothing if a shutdown is already under way.
   */
  // r[impl signals.register.may-exit]
  public void shutdown(Signal signal) {
    router.endBecauseAsked(new Delivery(signal, "program"));
  }

  /** Whether a shutdown is under way, caused by a signal or requested by the program. */
  public boolean isShuttingDown() {
    return router.isEnding();
  }

  /**
   * Runs an action once, when the first of these signals arrives: to cancel work or request a stop.
   */
  // r[impl signals.cancel.bridge]
  public Registration cancel(List<String> signals, Runnable cancellation) {
    return once(signals, _ -> cancellation.run());
  }

  /** Returns a future that completes with the next of these signals; cancel it to stop waiting. */
  public CompletableFuture<Signal> next(String... signals) {
    var next = new CompletableFuture<Signal>();
    Registration registration = once(List.of(signals), next::complete);
    var _ = next.whenComplete((_, _) -> registration.close());
    return next;
  }

  /** Interrupts a thread once, when the first of these signals arrives. */
  public Registration interrupt(Thread thread, String... signals) {
    return once(List.of(signals), _ -> thread.interrupt());
  }

  private Registration once(List<String> names, SignalHandler action) {
    // Resolve all of them before registering any.
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
   * Writes a record to the log, in order with the records about signals. The log is asynchronous,
   * so whatever a handler writes by other means may appear out of order.
   */
  public void log(SignalRecord record) {
    journal.record(record);
  }

  /**
   * Restores the previous signal handling. Registered handlers are no longer called. Waits at most
   * one second for pending log records to be written.
   *
   * <p>Does nothing while a shutdown is under way, so a program may close this on its way out
   * without changing the outcome: all cleanups run within the time limit, a second Ctrl+C still
   * forces the exit, and the exit code is that of the signal.
   */
  @Override
  public void close() {
    if (isShuttingDown()) {
      return;
    }
    giveBack();
    if (router.shutdown().close()) { // else a shutdown has begun, or it was closed before
      closeRest();
    }
  }

  /** Closes unconditionally, abandoning a shutdown that is under way. */
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

  /** Waits until all records so far are written, but no longer than the limit. */
  void flushLog(Duration limit) {
    journal.flush(limit);
  }

  /**
   * Acts as if the operating system had delivered the signal; does nothing if it could not have.
   */
  // r[impl signals.inject.same-path]
  // r[impl signals.fallback.inject-inert]
  CompletableFuture<Void> inject(Signal signal) {
    return subscriptions.obstacle(signal).isEmpty()
        ? router.receive(new Delivery(signal, source.name()))
        : CompletableFuture.completedFuture(null);
  }

  /** The number of handlers for which the operating system can deliver the signal. */
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
