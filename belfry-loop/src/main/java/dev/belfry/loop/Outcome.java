package dev.belfry.loop;

/** How an operation ended. */
public enum Outcome {
  /** It succeeded. */
  VALUE,
  /** It failed. */
  ERROR,
  /** It was cancelled before it could succeed or fail. */
  STOPPED
}
