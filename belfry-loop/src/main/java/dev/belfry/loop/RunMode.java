package dev.belfry.loop;

/** When {@link EventLoop#run(RunMode)} ends after a stop was requested. */
public enum RunMode {
  /** At once: what is in flight completes as stopped. */
  STOPPED,
  /** When every operation and timer in flight has completed by itself, however long it takes. */
  DRAINED
}
