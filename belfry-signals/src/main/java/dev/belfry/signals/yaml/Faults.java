package dev.belfry.signals.yaml;

/** Collects the faults of a document. */
@FunctionalInterface
public interface Faults {
  /**
   * Adds a fault.
   *
   * @param line its line, counted from 1
   * @param field its path, such as {@code signals[2].exit_code}; empty for the whole document
   * @param reason what is wrong and what is expected
   */
  void add(int line, String field, String reason);
}
