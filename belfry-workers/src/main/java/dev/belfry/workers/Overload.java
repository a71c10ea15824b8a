package dev.belfry.workers;

/** What happens to a call if no worker has room. */
public enum Overload {
  /** The caller waits for room, until the call's deadline. */
  BLOCK,
  /**
   * It fails at once with {@link PoolFull}. While no worker is ready, the caller waits all the
   * same.
   */
  REFUSE
}
