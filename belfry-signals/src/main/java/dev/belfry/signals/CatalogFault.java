package dev.belfry.signals;

/**
 * A fault in a catalog.
 *
 * @param line its line, counted from 1
 * @param field its path, such as {@code signals[2].exit_code}; empty for the whole document
 * @param reason what is wrong, and what is expected
 */
public record CatalogFault(int line, String field, String reason) {
  @Override
  public String toString() {
    return "line " + line + ": " + (field.isEmpty() ? "" : field + ": ") + reason;
  }
}
