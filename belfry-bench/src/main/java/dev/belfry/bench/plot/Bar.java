package dev.belfry.bench.plot;

import java.util.Map;

/**
 * What a contender reached under some circumstances, in the unit of a question.
 *
 * @param params the circumstances
 * @param contender who
 * @param median half of the samples were below
 * @param min the least
 * @param max the greatest
 */
record Bar(Map<String, String> params, String contender, double median, double min, double max) {
  Bar {
    params = Map.copyOf(params);
  }

  boolean isOurs() {
    return contender.startsWith("belfry");
  }
}
