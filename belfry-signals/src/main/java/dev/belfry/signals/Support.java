package dev.belfry.signals;

/** How a platform supports a signal. */
public enum Support {
  /** As a signal. */
  NATIVE,
  /** By an equivalent, such as a Windows console event. */
  MAPPED,
  /** Not at all. */
  UNSUPPORTED
}
