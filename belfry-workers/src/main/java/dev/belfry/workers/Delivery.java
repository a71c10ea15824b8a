package dev.belfry.workers;

/** What becomes of a call whose worker dies. */
public enum Delivery {
  /** It fails: the worker may have done it, or a part of it. For what must not be done twice. */
  AT_MOST_ONCE,
  /** Another worker does it. For what can be done twice. */
  AT_LEAST_ONCE
}
