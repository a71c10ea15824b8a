package dev.belfry.workers;

import org.jspecify.annotations.Nullable;

/**
 * What a dead worker had written last to its standard error. As the cause of an exception it is in
 * every stack trace, where people look for the reason first.
 */
final class LastWords extends Exception {
  private static final long serialVersionUID = 1;

  private LastWords(String words) {
    super(words, null, false, false); // it comes from another process: no place here to tell of
  }

  /** Null if it had said nothing. */
  static @Nullable LastWords of(Death death) {
    return death.errorTail().isBlank() ? null : new LastWords(death.errorTail());
  }
}
