package dev.belfry.signals;

import java.util.Optional;

/**
 * Whether the source in use can deliver a signal.
 *
 * @param signal the signal
 * @param obstacle why it cannot be delivered; empty if it can
 */
public record Receivable(Signal signal, Optional<String> obstacle) {
  /** Whether the signal can be delivered. */
  public boolean isReceivable() {
    return obstacle.isEmpty();
  }
}
