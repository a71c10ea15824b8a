package dev.belfry.workers;

/** What happens to a call whose worker dies. */
public enum Delivery {
  /**
   * It fails, although it may have been carried out, wholly or in part. For calls that must not run
   * twice.
   */
  AT_MOST_ONCE,
  /** It is given to another worker. For calls that may run twice. */
  AT_LEAST_ONCE
}
