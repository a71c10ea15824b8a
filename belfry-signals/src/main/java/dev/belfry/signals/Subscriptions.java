package dev.belfry.signals;

import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Subscribes to signals at the source, and reports those that it cannot deliver. */
final class Subscriptions {
  private final SignalCatalog catalog;
  private final Platform platform;
  private final SignalSource source;
  private final SignalRouter router;
  private final Journal journal;

  /**
   * For each signal subscribed to, why the source cannot deliver it, or empty; guarded by itself.
   */
  private final Map<String, Optional<String>> subscribed = new HashMap<>();

  /** Whether this is closed; guarded by {@code subscribed}. */
  private boolean closed;

  Subscriptions(
      SignalCatalog catalog,
      Platform platform,
      SignalSource source,
      SignalRouter router,
      Journal journal) {
    this.catalog = catalog;
    this.platform = platform;
    this.source = source;
    this.router = router;
    this.journal = journal;
  }

  /** Subscribes to every supported signal, except those to be taken only on demand. */
  void start() {
    for (Signal signal : catalog.signals()) {
      if (isSupported(signal) && signal.isCatchable() && !source.onlyOnDemand(signal)) {
        subscribe(signal);
      }
    }
  }

  private boolean isSupported(Signal signal) {
    return catalog.support(signal, platform) != Support.UNSUPPORTED;
  }

  /** Why a signal cannot be received; empty if it can. */
  Optional<String> obstacle(Signal signal) {
    if (!signal.isCatchable()) {
      return Optional.of("no program can catch it");
    }
    if (!isSupported(signal)) {
      return Optional.of(platform.id() + " has no " + signal);
    }
    synchronized (subscribed) {
      return closed
          ? Optional.of("the signals were closed")
          : subscribed.getOrDefault(signal.name(), Optional.empty());
    }
  }

  /** Subscribes to the signal, or reports why that is impossible. */
  void prepare(Signal signal) {
    if (isSupported(signal)) {
      subscribe(signal);
    } else {
      tellUnsupported(signal);
    }
  }

  private void subscribe(Signal signal) {
    synchronized (subscribed) {
      Optional<String> known = subscribed.get(signal.name());
      if (known == null && !closed) { // once closed, nothing would undo a subscription
        known = source.subscribe(signal, this::received);
        subscribed.put(signal.name(), known);
        known.ifPresent(reason -> tellObstacle(signal, reason));
      }
    }
  }

  /** Closes the source; subscribes to nothing more. */
  void close() {
    synchronized (subscribed) {
      closed = true;
    }
    source.close();
  }

  private void received(Signal signal) {
    var _ = router.receive(new Delivery(signal, source.name()));
  }

  private void tellObstacle(Signal signal, String reason) {
    var fields = new LinkedHashMap<String, String>();
    fields.put("signal", signal.name());
    fields.put("source", source.name());
    fields.put("reason", reason);
    journal.record(Level.INFO, "signal.not_receivable", signal + " cannot be received", fields);
  }

  // r[impl signals.fallback.trigger]
  // r[impl signals.fallback.log-level]
  // r[impl signals.fallback.log-fields]
  // r[impl signals.fallback.no-error]
  // r[impl signals.fallback.no-dummy]
  private void tellUnsupported(Signal signal) {
    signal
        .windowsFallback()
        .ifPresent(
            fallback -> {
              var fields = new LinkedHashMap<String, String>();
              fields.put("signal", signal.name());
              fields.put("platform", platform.id());
              fields.put("fallback", fallback.behavior());
              fields.put("operation_hint", fallback.operationHint());
              journal.record(
                  new SignalRecord(
                      fallback.logLevel(),
                      "signal.unsupported",
                      fallback.logMessage(),
                      fields,
                      fallback.logText(signal, platform),
                      null));
              // r[impl signals.fallback.event-name]
              // r[impl signals.fallback.event-tags]
              // r[impl signals.fallback.type-from-catalog]
              var tags = new LinkedHashMap<>(fallback.telemetryTags());
              tags.put("signal", signal.name());
              tags.put("platform", platform.id());
              tags.put("fallback_behavior", fallback.behavior());
              journal.emit(fallback.telemetryEvent(), tags);
            });
  }
}
