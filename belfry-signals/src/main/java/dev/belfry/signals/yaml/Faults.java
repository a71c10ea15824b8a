package dev.belfry.signals.yaml;

/** Where everything that is wrong with a document is collected. */
@FunctionalInterface
public interface Faults {
  /**
   * Something is wrong.
   *
   * @param line counted from 1
   * @param field where it is, such as {@code signals[2].exit_code}; empty for the whole document
   * @param reason what is wrong and what should be there
   */
  void add(int line, String field, String reason);
}
