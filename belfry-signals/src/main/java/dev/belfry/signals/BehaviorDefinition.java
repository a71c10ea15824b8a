package dev.belfry.signals;

import java.util.List;

/**
 * A behaviour as the catalog defines it.
 *
 * @param id its id, such as {@code graceful_shutdown}
 * @param name its display name
 * @param description what it does
 * @param phases its steps, in order
 */
public record BehaviorDefinition(String id, String name, String description, List<Phase> phases) {
  public BehaviorDefinition {
    phases = List.copyOf(phases);
  }

  /**
   * One step of a behaviour.
   *
   * @param name its name, such as {@code drain}
   * @param description what the step does
   */
  public record Phase(String name, String description) {}
}
