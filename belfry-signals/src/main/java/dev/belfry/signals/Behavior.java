package dev.belfry.signals;

import java.util.Locale;

/** What a program does when a signal arrives; {@link BehaviorDefinition} has the phases. */
public enum Behavior {
  /** Shuts down gracefully, within a time limit. */
  GRACEFUL_SHUTDOWN,
  /** Shuts down gracefully; exits immediately if the signal arrives again within a window. */
  GRACEFUL_SHUTDOWN_WITH_DOUBLE_TAP,
  /** Validates the new configuration, then shuts down gracefully to be restarted with it. */
  RELOAD_VIA_RESTART,
  /** Exits immediately. */
  IMMEDIATE_EXIT,
  /** Calls the program's handlers. */
  CUSTOM,
  /** Logs and counts the signal, and carries on. */
  OBSERVE_ONLY;

  /** Its id in the catalog. */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
