package dev.belfry.signals;

import java.util.Optional;

/**
 * Whether a signal can come from the source that is in use.
 *
 * @param signal the signal
 * @param obstacle why it cannot; empty if it can
 */
public record Receivable(Signal signal, Optional<String> obstacle) {
  /** Whether it can. */
  public boolean isReceivable() {
    return obstacle.isEmpty();
  }
}
