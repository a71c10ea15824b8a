package dev.belfry.signals;

import java.io.IOException;
import java.util.Optional;

/** Offers a better source than the JVM's own; found by {@link java.util.ServiceLoader}. */
public interface SignalSourceProvider {
  /** Why its source cannot be had in this process, or empty if it can. */
  Optional<String> unavailabilityCause();

  /**
   * Opens the source.
   *
   * @throws IOException if it cannot be had after all
   */
  SignalSource open() throws IOException;
}
