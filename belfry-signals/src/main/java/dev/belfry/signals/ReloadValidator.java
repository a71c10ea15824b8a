package dev.belfry.signals;

import java.util.List;

/**
 * Says whether the configuration that a restart would find is good. Nothing is taken over from it:
 * the new configuration takes effect with the restart.
 */
@FunctionalInterface
public interface ReloadValidator {
  /**
   * Loads the new configuration and checks it against its schema.
   *
   * @return what is wrong with it; empty if it is good
   * @throws Exception if it cannot even be loaded, which counts as wrong
   */
  List<String> problems() throws Exception;
}
