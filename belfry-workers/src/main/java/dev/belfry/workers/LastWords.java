package dev.belfry.workers;

import org.jspecify.annotations.Nullable;

/**
 * What a dead worker last wrote to its standard error. As the cause of an exception it is in every
 * stack trace, where people look first.
 */
final class LastWords extends Exception {
  private static final long serialVersionUID = 1;

  private LastWords(String words) {
    super(words, null, false, false); // from another process: a stack trace would mislead
  }

  /** Null if the worker wrote nothing. */
  static @Nullable LastWords of(Death death) {
    return death.errorTail().isBlank() ? null : new LastWords(death.errorTail());
  }
}
