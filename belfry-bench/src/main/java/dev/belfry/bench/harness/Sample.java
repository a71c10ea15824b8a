package dev.belfry.bench.harness;

import java.util.Map;

/**
 * One measurement of one contender.
 *
 * @param round the round, from zero
 * @param contender the contender
 * @param params the circumstances, such as the number of connections
 * @param metrics the measured values, by name
 * @param placement where the virtual processors were meanwhile
 */
public record Sample(
    int round,
    String contender,
    Map<String, Object> params,
    Map<String, Double> metrics,
    Placement placement) {

  /** A copy with another placement. */
  Sample placed(Placement other) {
    return new Sample(round, contender, params, metrics, other);
  }
}
