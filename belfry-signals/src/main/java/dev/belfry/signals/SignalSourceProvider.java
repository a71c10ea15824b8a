package dev.belfry.signals;

import java.io.IOException;
import java.util.Optional;

/** Provides a better source than the JVM's own. Found by {@link java.util.ServiceLoader}. */
public interface SignalSourceProvider {
  /** Why the source is unavailable in this process; empty if it is available. */
  Optional<String> unavailabilityCause();

  /**
   * Opens the source.
   *
   * @throws IOException if it is unavailable after all
   */
  SignalSource open() throws IOException;
}
