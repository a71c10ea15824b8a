package dev.belfry.signals;

import java.util.Optional;

/** A registered signal handler. */
public interface SignalRegistration extends Registration {
  /** The signal that it handles. */
  Signal signal();

  /**
   * Why the operating system cannot deliver the signal; empty if it can. An inactive handler is
   * still called when the signal is raised with {@link Signals#raise}.
   */
  Optional<String> inactiveReason();

  /** Whether the operating system can deliver the signal. */
  default boolean isActive() {
    return inactiveReason().isEmpty();
  }
}
