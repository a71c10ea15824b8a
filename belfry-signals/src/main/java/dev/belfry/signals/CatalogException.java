package dev.belfry.signals;

import java.io.Serial;
import java.util.List;
import java.util.stream.Collectors;

/** Thrown for a catalog that is not valid, with all of its faults. */
public final class CatalogException extends Exception {
  @Serial private static final long serialVersionUID = 1;

  private final transient List<CatalogFault> faults;

  CatalogException(String source, List<CatalogFault> faults) {
    super(
        faults.stream()
            .map(CatalogFault::toString)
            .collect(Collectors.joining("\n  ", source + " is not a valid catalog:\n  ", "")));
    this.faults = List.copyOf(faults);
  }

  /** All faults, ordered by line. */
  public List<CatalogFault> faults() {
    return faults;
  }
}
