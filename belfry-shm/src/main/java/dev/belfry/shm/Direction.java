package dev.belfry.shm;

/** The direction of a ring. */
public enum Direction {
  /** From a guest to the host. */
  TO_HOST,
  /** From the host to a guest. */
  TO_GUEST;

  Direction opposite() {
    return this == TO_HOST ? TO_GUEST : TO_HOST;
  }
}
