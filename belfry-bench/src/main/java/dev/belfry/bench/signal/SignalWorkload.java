package dev.belfry.bench.signal;

import java.time.Duration;

/** How signals are sent. */
enum SignalWorkload {
  /** USR1 by {@code kill}, each after the previous was handled and a pause. */
  PACED("paced"),
  /** A hundred realtime signals by {@code sigqueue}, then a pause. */
  BURST("burst"),
  /** As many realtime signals at once, as fast as {@code sigqueue} accepts them. */
  FLOOD("flood");

  private static final int FLOOD_SIGNALS = 100_000;
  private static final Duration PACED_STEP = Duration.ofNanos(650_000);
  private static final Duration BURST_STEP = Duration.ofMillis(1);

  /** The name in the tables, and for the sender. */
  final String label;

  SignalWorkload(String label) {
    this.label = label;
  }

  /** How often it is done within a time. */
  long count(Duration measured) {
    return switch (this) {
      case PACED -> Math.max(1, measured.dividedBy(PACED_STEP));
      case BURST -> Math.max(1, measured.dividedBy(BURST_STEP));
      case FLOOD -> FLOOD_SIGNALS;
    };
  }
}
