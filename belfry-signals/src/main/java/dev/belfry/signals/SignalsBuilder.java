package dev.belfry.signals;

import org.jspecify.annotations.Nullable;

/** What {@link Signals} is to use instead of its defaults. */
public final class SignalsBuilder {
  SignalCatalog catalog = SignalCatalog.bundled();
  Platform platform = Platform.current();
  SignalLog log = SignalLog.toSystemLogger();
  SignalTelemetry telemetry = (_, _) -> {};
  ExitPort exit = new JvmExit();
  @Nullable SignalClock clock;
  @Nullable SignalSource source;

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

  /** Receives the signals of this process from now on. */
  public Signals open() {
    return new Signals(this);
  }
}
