package dev.belfry.shm;

/** How a wait ended. */
public enum Awaited {
  /** The event has happened. */
  READY,
  /** The deadline has passed first. */
  TIMEOUT,
  /** The event can no longer happen: the peer is gone, or this side was closed. */
  OVER
}
