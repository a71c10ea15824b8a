package dev.belfry.signals;

/**
 * One thing that is wrong with a catalog.
 *
 * @param line where, counted from 1
 * @param field where, such as {@code signals[2].exit_code}; empty for the whole document
 * @param reason what is wrong, and what should be there
 */
public record CatalogFault(int line, String field, String reason) {
  @Override
  public String toString() {
    return "line " + line + ": " + (field.isEmpty() ? "" : field + ": ") + reason;
  }
}
