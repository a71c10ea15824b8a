package dev.belfry.cli.config;

/**
 * A fault in a configuration.
 *
 * @param line its line, counted from 1
 * @param field the field, such as {@code workers.restart.first_delay}; empty for the whole file
 * @param reason what is wrong, and what is expected
 */
public record ConfigFault(int line, String field, String reason) {
  /** Returns one line for people, without the file's name. */
  @Override
  public String toString() {
    return "line " + line + ": " + (field.isEmpty() ? "" : field + ": ") + reason;
  }
}
