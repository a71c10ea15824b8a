package dev.belfry.shm;

/** How waiting for something ended. */
public enum Awaited {
  /** It has happened. */
  READY,
  /** The deadline has come and it has not. */
  TIMEOUT,
  /** It will not happen any more: the peer is gone or this side was closed. */
  OVER
}
