package dev.belfry.signals;

import dev.belfry.signals.BehaviorDefinition.Phase;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Performs the catalog's behaviour for each signal. {@link #receive} only decides and returns
 * immediately; whatever may take time, logging included, runs on other threads, so that a second
 * Ctrl+C is always seen, whatever hangs.
 */
final class SignalRouter {
  /** The phase in which the handlers of a custom signal are called. */
  private static final String DELEGATE = "delegate";

  private final SignalCatalog catalog;
  private final SignalClock clock;
  private final SignalThreads threads;
  private final Journal journal;
  private final Handlers handlers;
  private final Shutdown shutdown;
  private final Reload reload;
  private final Platform platform;
  private final Map<String, Lane> lanes = new HashMap<>();
  private final Map<String, TapWindow> taps = new HashMap<>();
  private final Set<String> toldUnhandled = ConcurrentHashMap.newKeySet();

  SignalRouter(
      SignalCatalog catalog,
      Platform platform,
      SignalClock clock,
      SignalThreads threads,
      ExitPort exit,
      Journal journal) {
    this.catalog = catalog;
    this.platform = platform;
    this.clock = clock;
    this.threads = threads;
    this.journal = journal;
    this.handlers = new Handlers(journal);
    this.reload = new Reload(journal);
    this.shutdown = new Shutdown(platform, clock, threads, exit, journal, this::forgetTaps);
    for (Signal signal : catalog.signals()) {
      lanes.put(signal.name(), new Lane(threads, this::work));
      signal.doubleTap().ifPresent(it -> taps.put(signal.name(), new TapWindow(it.window())));
    }
  }

  Handlers handlers() {
    return handlers;
  }

  Reload reload() {
    return reload;
  }

  boolean isEnding() {
    return shutdown.cause().isPresent();
  }

  Shutdown shutdown() {
    return shutdown;
  }

  /** Receives a signal; the future completes when everything that the signal triggered is done. */
  CompletableFuture<Void> receive(Delivery delivery) {
    Signal signal = delivery.signal();
    try {
      switch (signal.behavior()) {
        case GRACEFUL_SHUTDOWN -> end(delivery);
        case GRACEFUL_SHUTDOWN_WITH_DOUBLE_TAP -> tap(delivery);
        case IMMEDIATE_EXIT -> endAtOnce(delivery);
        case RELOAD_VIA_RESTART, CUSTOM, OBSERVE_ONLY -> {
          return lane(signal).add(delivery).done();
        }
      }
    } catch (OutOfMemoryError noThread) {
      if (endsTheProcess(signal)) {
        shutdown.haltSilently(signal.exitCode(platform));
      }
    }
    return delivery.done();
  }

  private static boolean endsTheProcess(Signal signal) {
    return switch (signal.behavior()) {
      case GRACEFUL_SHUTDOWN, GRACEFUL_SHUTDOWN_WITH_DOUBLE_TAP, IMMEDIATE_EXIT -> true;
      case RELOAD_VIA_RESTART, CUSTOM, OBSERVE_ONLY -> false;
    };
  }

  /** Shuts down gracefully, with the signal's exit code, because the program requested it. */
  void endBecauseAsked(Delivery delivery) {
    start(
        delivery,
        shutdown.claim(delivery),
        ending -> {
          received(delivery);
          shutdown.run(ending, phases(Behavior.GRACEFUL_SHUTDOWN));
        });
  }

  // r[impl signals.lib.behaviours]
  private void end(Delivery delivery) {
    start(
        delivery,
        shutdown.claim(delivery),
        ending -> {
          try {
            received(delivery);
            handlers.call(delivery);
          } finally { // whatever fails here, cleanups must run
            shutdown.run(ending, phases(delivery.signal().behavior()));
          }
        });
  }

  /** Runs a shutdown on another thread, or logs the delivery as ignored if the claim failed. */
  private void start(Delivery delivery, Optional<Ending> claimed, Consumer<Ending> end) {
    threads.run(
        () -> {
          if (claimed.isPresent()) {
            end.accept(claimed.get());
          } else {
            ignored(delivery);
          }
        });
  }

  // r[impl signals.doubletap.exists]
  private void tap(Delivery delivery) {
    Signal signal = delivery.signal();
    TapWindow window = taps.get(signal.name());
    Optional<Signal.DoubleTap> tap = signal.doubleTap();
    if (window == null || tap.isEmpty()) {
      end(delivery);
    } else if (window.isSecond(clock.nanoTime())) {
      shutdown.force(delivery, tap.get().exitCode()); // r[impl signals.doubletap.exit]
      delivery.done().complete(null);
    } else {
      threads.run(() -> journal.notice(tap.get().message())); // r[impl signals.doubletap.hint]
      end(delivery); // r[impl signals.doubletap.first]
    }
  }

  private void endAtOnce(Delivery delivery) {
    start(
        delivery,
        shutdown.claim(delivery, Shutdown.MOMENT),
        ending -> {
          received(delivery);
          handlers.call(delivery);
          phases(Behavior.IMMEDIATE_EXIT).forEach(phase -> journal.phase(delivery, phase));
          shutdown.exitAtOnce(ending);
        });
  }

  /** Handles a signal that does not end the process, or only after validation; runs on its lane. */
  private void work(Delivery delivery) {
    received(delivery);
    Behavior behavior = delivery.signal().behavior();
    if (behavior == Behavior.RELOAD_VIA_RESTART) {
      reload(delivery);
    } else if (behavior == Behavior.CUSTOM) {
      custom(delivery);
    } else {
      handlers.call(delivery);
      phases(behavior).forEach(phase -> journal.phase(delivery, phase));
    }
  }

  private void reload(Delivery delivery) {
    int before = shutdown.begun();
    if (shutdown.cause().isPresent()) {
      ignored(delivery);
      return;
    }
    handlers.call(delivery);
    if (shutdown.begun() > before) {
      return; // a shutdown began during a handler: there is nothing left to validate or restart
    }
    journal.phase(delivery, "notify");
    if (reload.isAccepted(delivery)) {
      // r[impl signals.reload.restart]
      // r[impl signals.reload.graceful]
      // r[impl signals.reload.exit129]
      List<String> rest =
          phases(Behavior.RELOAD_VIA_RESTART).stream().filter(Reload::isAfterValidation).toList();
      shutdown
          .claim(delivery)
          .ifPresentOrElse(ending -> shutdown.run(ending, rest), () -> ignored(delivery));
    }
  }

  private void custom(Delivery delivery) {
    Signal signal = delivery.signal();
    if (handlers.isEmpty(signal)) {
      if (toldUnhandled.add(signal.name())) {
        journal.record(
            Level.INFO,
            delivery,
            "signal.unhandled",
            "nobody handles " + signal + ", so it is ignored; this is said once");
      }
      return;
    }
    List<String> phases = phases(Behavior.CUSTOM);
    if (!phases.contains(DELEGATE)) {
      handlers.call(delivery); // even if the catalog omits the phase
    }
    for (String phase : phases) {
      journal.phase(delivery, phase);
      if (phase.equals(DELEGATE)) {
        handlers.call(delivery);
      }
    }
    journal.record(Level.INFO, delivery, "signal.handled", "the handlers of " + signal + " ran");
  }

  private void received(Delivery delivery) {
    journal.tell(
        Level.INFO,
        delivery,
        "signal.received",
        "received " + delivery.signal(),
        "origin",
        delivery.origin(),
        "reason",
        delivery.reason());
  }

  /** Logs a signal that changes nothing because a shutdown is already under way. */
  private void ignored(Delivery delivery) {
    String first = shutdown.cause().map(cause -> cause.signal().name()).orElse("another signal");
    journal.tell(
        Level.INFO,
        delivery,
        "signal.ignored",
        "already ending because of " + first,
        "ending_by",
        first);
    delivery.done().complete(null);
  }

  // r[impl signals.behavior.phases]
  private List<String> phases(Behavior behavior) {
    return catalog
        .behavior(behavior.id())
        .map(definition -> definition.phases().stream().map(Phase::name).toList())
        .orElse(List.of());
  }

  private Lane lane(Signal signal) {
    Lane lane = lanes.get(signal.name());
    if (lane == null) {
      throw new IllegalArgumentException(signal + " is not of this catalog");
    }
    return lane;
  }

  private void forgetTaps() {
    taps.values().forEach(TapWindow::forget);
  }
}
