package dev.belfry.signals;

import java.util.List;

/**
 * Validates the configuration that a restart would load. Nothing is applied from it: the new
 * configuration takes effect with the restart.
 */
@FunctionalInterface
public interface ReloadValidator {
  /**
   * Loads the new configuration and validates it.
   *
   * @return its problems; empty if it is valid
   * @throws Exception if it cannot even be loaded, which counts as a failed validation
   */
  List<String> problems() throws Exception;
}
