package dev.belfry.signals;

import java.util.List;

/**
 * What the catalog says about a behaviour.
 *
 * @param id its id, such as {@code graceful_shutdown}
 * @param name its name for people
 * @param description what it does
 * @param phases what happens, in this order
 */
public record BehaviorDefinition(String id, String name, String description, List<Phase> phases) {
  public BehaviorDefinition {
    phases = List.copyOf(phases);
  }

  /**
   * One step of a behaviour.
   *
   * @param name its name, such as {@code drain}
   * @param description what happens in it
   */
  public record Phase(String name, String description) {}
}
