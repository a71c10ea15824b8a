package dev.belfry.loop;

/** How an operation ended. */
public enum Outcome {
  /** It did what it was to do. */
  VALUE,
  /** It failed. */
  ERROR,
  /** It was withdrawn before it could do either. */
  STOPPED
}
