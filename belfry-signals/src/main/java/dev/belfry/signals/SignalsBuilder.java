package dev.belfry.signals;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Signals} is to use instead of its defaults, and what it is to do from the first
 * signal on: one that has come while the program started is there as soon as it is open, before
 * anything can be registered with it.
 */
public final class SignalsBuilder {
  SignalCatalog catalog = SignalCatalog.bundled();
  Platform platform = Platform.current();
  SignalLog log = SignalLog.toSystemLogger();
  SignalTelemetry telemetry = (_, _) -> {};
  ExitPort exit = new JvmExit();
  @Nullable SignalClock clock;
  @Nullable SignalSource source;
  @Nullable ReloadValidator validator;
  final List<First> first = new ArrayList<>();

  /** A handler that is there before the first signal, by the name of its signal. */
  record First(String signal, Function<Signals, SignalHandler> handler) {}

  SignalsBuilder() {}

  /** Another catalog. */
  public SignalsBuilder catalog(SignalCatalog catalog) {
    this.catalog = catalog;
    return this;
  }

  /** Pretends to run on another platform. */
  public SignalsBuilder platform(Platform platform) {
    this.platform = platform;
    return this;
  }

  /** Where records go; by default to the platform's logger. */
  public SignalsBuilder log(SignalLog log) {
    this.log = log;
    return this;
  }

  /** Where events go; by default nowhere. */
  public SignalsBuilder telemetry(SignalTelemetry telemetry) {
    this.telemetry = telemetry;
    return this;
  }

  /** How the process ends. */
  public SignalsBuilder exit(ExitPort exit) {
    this.exit = exit;
    return this;
  }

  /** Another clock. */
  public SignalsBuilder clock(SignalClock clock) {
    this.clock = clock;
    return this;
  }

  /** Where signals come from; by default the best source that this process can have. */
  public SignalsBuilder source(SignalSource source) {
    this.source = source;
    return this;
  }

  /** As {@link Signals#handle(String, SignalHandler)}, from the first signal on. */
  public SignalsBuilder handle(String signal, SignalHandler handler) {
    first.add(new First(signal, _ -> handler));
    return this;
  }

  /** Ends the process in good order when the signal comes, as {@link Signals#shutdown} does. */
  public SignalsBuilder endOn(String signal) {
    first.add(new First(signal, signals -> signals::shutdown));
    return this;
  }

  /** As {@link Signals#onReload}, from the first signal on. */
  public SignalsBuilder onReload(ReloadValidator validator) {
    this.validator = validator;
    return this;
  }

  /**
   * Receives the signals of this process from now on.
   *
   * @throws IllegalArgumentException if a handler is for a signal that is in no catalog or cannot
   *     be caught anywhere
   * @throws IllegalStateException if they are open already; it says where. Those with a {@link
   *     #source} of their own do not count
   */
  public Signals open() {
    if (source != null) {
      return new Signals(this, () -> {});
    }
    ProcessClaim claim = ProcessClaim.take();
    try {
      return new Signals(this, claim::close);
    } catch (RuntimeException | Error e) {
      claim.close();
      throw e;
    }
  }
}
