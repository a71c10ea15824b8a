package dev.belfry.bench.plot;

import java.util.Map;

/**
 * The result of a contender under some circumstances, in the unit of a question.
 *
 * @param params the circumstances
 * @param contender the contender
 * @param median the median of the samples
 * @param min the minimum
 * @param max the maximum
 */
record Bar(Map<String, String> params, String contender, double median, double min, double max) {
  Bar {
    params = Map.copyOf(params);
  }

  boolean isOurs() {
    return contender.startsWith("belfry");
  }
}
