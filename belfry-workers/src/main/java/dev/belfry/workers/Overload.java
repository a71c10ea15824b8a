package dev.belfry.workers;

/** What becomes of a call for which no worker has room. */
public enum Overload {
  /** The caller waits for room, until the call's deadline. */
  BLOCK,
  /** It fails at once with {@link PoolFull}. */
  REFUSE
}
