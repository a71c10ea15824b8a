package dev.belfry.signals;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Configures {@link Signals}. Handlers registered here see every signal from the first one on: a
 * signal that arrived while the program was starting is delivered as soon as {@link #open}
 * subscribes to it, before anything can be registered with the result.
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

  /** A handler to register before the first signal can be delivered. */
  record First(String signal, Function<Signals, SignalHandler> handler) {}

  SignalsBuilder() {}

  /** Replaces the bundled catalog. */
  public SignalsBuilder catalog(SignalCatalog catalog) {
    this.catalog = catalog;
    return this;
  }

  /** Pretends to run on another platform. */
  public SignalsBuilder platform(Platform platform) {
    this.platform = platform;
    return this;
  }

  /** Sets where records go; by default to the system logger. */
  public SignalsBuilder log(SignalLog log) {
    this.log = log;
    return this;
  }

  /** Sets where events go; by default nowhere. */
  public SignalsBuilder telemetry(SignalTelemetry telemetry) {
    this.telemetry = telemetry;
    return this;
  }

  /** Sets how the process exits; by default through the JVM. */
  public SignalsBuilder exit(ExitPort exit) {
    this.exit = exit;
    return this;
  }

  /** Replaces the system clock. */
  public SignalsBuilder clock(SignalClock clock) {
    this.clock = clock;
    return this;
  }

  /** Sets where signals come from; by default the best source available to this process. */
  public SignalsBuilder source(SignalSource source) {
    this.source = source;
    return this;
  }

  /** Same as {@link Signals#handle(String, SignalHandler)}, but misses no signal. */
  public SignalsBuilder handle(String signal, SignalHandler handler) {
    first.add(new First(signal, _ -> handler));
    return this;
  }

  /** Shuts down gracefully when the signal arrives, as {@link Signals#shutdown} does. */
  public SignalsBuilder endOn(String signal) {
    first.add(new First(signal, signals -> signals::shutdown));
    return this;
  }

  /** Same as {@link Signals#onReload}, but misses no signal. */
  public SignalsBuilder onReload(ReloadValidator validator) {
    this.validator = validator;
    return this;
  }

  /**
   * Starts receiving the signals of this process.
   *
   * @throws IllegalArgumentException if a handler's signal is not in the catalog or cannot be
   *     caught on any platform
   * @throws IllegalStateException if they are already open; the message says where. Instances with
   *     their own {@link #source} do not count
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
