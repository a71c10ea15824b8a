package dev.belfry.bench.harness;

import java.util.Map;

/**
 * What one contender did once.
 *
 * @param round the round, from zero
 * @param contender who
 * @param params under which circumstances, such as the number of connections
 * @param metrics what was measured, by name
 * @param placement where the virtual processors were meanwhile
 */
public record Sample(
    int round,
    String contender,
    Map<String, Object> params,
    Map<String, Double> metrics,
    Placement placement) {

  /** The same with another placement. */
  Sample placed(Placement other) {
    return new Sample(round, contender, params, metrics, other);
  }
}
