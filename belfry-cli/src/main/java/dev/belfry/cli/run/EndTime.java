package dev.belfry.cli.run;

import dev.belfry.signals.Signal;
import dev.belfry.signals.SignalCatalog;
import dev.belfry.signals.SignalsBuilder;
import java.time.Duration;

/**
 * How much time an orderly shutdown has left for the calls under way. Part of the signal's time
 * limit is kept back, so that calls that do not end leave time to stop workers and clean up.
 */
final class EndTime {
  private static final Duration MAX_KEPT = Duration.ofSeconds(2);
  private static final int KEPT_PART = 4;

  /** When the time is up; set by the ending signal, before the shutdown actions ask for it. */
  private volatile long deadlineNanos = System.nanoTime();

  /** Registers for every signal that ends the host, and so sees the first one. */
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

  /** Returns the time left, at least zero. */
  Duration left() {
    return Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime()));
  }
}
