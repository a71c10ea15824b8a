package dev.belfry.loop;

/** When {@link EventLoop#run(RunMode)} ends after a stop was requested. */
public enum RunMode {
  /** Immediately: operations in flight complete as stopped. */
  STOPPED,
  /** Once every operation and timer in flight has completed on its own, however long that takes. */
  DRAINED
}
