package dev.belfry.signals;

/** When something is done during an orderly end; one phase after the other. */
public enum ShutdownPhase {
  /** Take no new work: close listeners, refuse requests. */
  STOP_ACCEPTING,
  /** Finish what was begun. */
  DRAIN,
  /** Close, flush, remove. */
  CLEANUP
}
