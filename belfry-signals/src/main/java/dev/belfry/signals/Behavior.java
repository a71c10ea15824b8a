package dev.belfry.signals;

import java.util.Locale;

/** What a program does when a signal comes; the {@link BehaviorDefinition} has the phases. */
public enum Behavior {
  /** Ends in good order, within a time limit. */
  GRACEFUL_SHUTDOWN,
  /** The same, and at once if the signal comes twice within a window. */
  GRACEFUL_SHUTDOWN_WITH_DOUBLE_TAP,
  /** Checks the new configuration, then ends in good order to be started again. */
  RELOAD_VIA_RESTART,
  /** Ends at once. */
  IMMEDIATE_EXIT,
  /** Does what the program has registered. */
  CUSTOM,
  /** Logs and counts, and goes on. */
  OBSERVE_ONLY;

  /** Its id in the catalog. */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
