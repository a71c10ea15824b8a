package dev.belfry.signals;

import java.util.Optional;

/** A handler that was registered. */
public interface SignalRegistration extends Registration {
  /** The signal it is for. */
  Signal signal();

  /**
   * Why the signal does not come from the operating system, or empty if it does. An inactive
   * handler is still called when the signal is raised by {@link Signals#raise}.
   */
  Optional<String> inactiveReason();

  /** Whether the operating system can deliver the signal. */
  default boolean isActive() {
    return inactiveReason().isEmpty();
  }
}
