package dev.belfry.signals;

/** How a platform has a signal. */
public enum Support {
  /** As a signal. */
  NATIVE,
  /** As something else that means the same, such as a console event of Windows. */
  MAPPED,
  /** Not at all. */
  UNSUPPORTED
}
