package dev.belfry.cli.run;

import dev.belfry.signals.Signal;
import dev.belfry.signals.SignalCatalog;
import dev.belfry.signals.SignalsBuilder;
import java.time.Duration;

/**
 * How much of its signal's time an orderly end has left for the calls under way. Some is kept back,
 * so that calls that do not end cannot take the time needed to end workers and clean everything up.
 */
final class EndTime {
  private static final Duration MAX_KEPT = Duration.ofSeconds(2);
  private static final int KEPT_PART = 4;

  /** When none is left; set by the signal, which comes before anybody asks. */
  private volatile long deadlineNanos = System.nanoTime();

  /** Sees every signal that ends the host, from the first on. */
  EndTime(SignalCatalog catalog, SignalsBuilder signals) {
    for (Signal signal : catalog.signals()) {
      if (signal.isCatchable() && signal.timeout().isPresent()) {
        signals.handle(signal.name(), this::begin);
      }
    }
  }

  private void begin(Signal signal) {
    Duration whole = signal.timeout().orElseThrow();
    Duration part = whole.dividedBy(KEPT_PART);
    Duration kept = part.compareTo(MAX_KEPT) < 0 ? part : MAX_KEPT;
    deadlineNanos = System.nanoTime() + whole.minus(kept).toNanos();
  }

  /** What is left, not below zero. */
  Duration left() {
    return Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime()));
  }
}
