package dev.belfry.cli.config;

/**
 * Something that is wrong with a configuration.
 *
 * @param line where it is, counted from 1
 * @param field which field it is, such as {@code workers.restart.first_delay}; empty for all of it
 * @param reason what is wrong and what should be there
 */
public record ConfigFault(int line, String field, String reason) {
  /** One line for people, without the name of the file. */
  @Override
  public String toString() {
    return "line " + line + ": " + (field.isEmpty() ? "" : field + ": ") + reason;
  }
}
