package dev.belfry.signals;

/** The phases of a graceful shutdown, in order. */
public enum ShutdownPhase {
  /** Take no new work: close listeners, refuse requests. */
  STOP_ACCEPTING,
  /** Finish the work in progress. */
  DRAIN,
  /** Close, flush and remove resources. */
  CLEANUP
}
