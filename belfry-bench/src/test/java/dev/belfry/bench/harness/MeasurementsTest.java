package dev.belfry.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.bench.harness.Goal.Bound;
import dev.belfry.bench.harness.Placement.Distance;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MeasurementsTest {
  private static final Map<String, Object> PARAMS = Map.of("connections", 16);
  private static final Placement NEAR = new Placement(Distance.NEAR, 100);
  private static final Placement FAR = new Placement(Distance.FAR, 400);

  private final Measurements measurements = new Measurements("test");

  private void add(int round, String contender, double rate, Placement placement) {
    measurements.add(new Sample(round, contender, PARAMS, Map.of("rate", rate), placement));
  }

  private Summary summary(String contender) {
    return measurements.summary(contender, PARAMS, "rate").orElseThrow();
  }

  private Summary ratio() {
    return measurements.ratio("a", "b", PARAMS, "rate").orElseThrow();
  }

  @Test
  void contendersAreComparedWithinEachRound() {
    add(0, "a", 10, NEAR);
    add(0, "b", 5, NEAR);
    add(1, "a", 100, NEAR); // a round in which everything was ten times faster
    add(1, "b", 50, NEAR);
    assertThat(ratio()).isEqualTo(Summary.of(List.of(2.0, 2.0)));
  }

  @Test
  void roundsWithAnotherPlacementDoNotCount() {
    for (int round = 0; round < 3; round++) {
      add(round, "a", 10, NEAR);
      add(round, "b", 10, NEAR);
    }
    add(3, "a", 1, FAR);
    add(3, "b", 10, FAR);
    add(4, "a", 1, NEAR.until(FAR));
    add(4, "b", 10, NEAR.until(FAR));
    assertThat(measurements.counted(PARAMS)).contains(Distance.NEAR);
    assertThat(summary("a").count()).isEqualTo(3);
    assertThat(ratio().min()).isEqualTo(1);
  }

  @Test
  void allRoundsCountIfNoPlacementHasHalfOfThem() {
    add(0, "a", 10, NEAR);
    add(1, "a", 20, FAR);
    add(2, "a", 30, NEAR.until(FAR));
    assertThat(measurements.counted(PARAMS)).isEmpty();
    assertThat(summary("a").count()).isEqualTo(3);
  }

  @Test
  void whoDidNotTakePartHasNeitherSummaryNorRatioNorVerdict() {
    add(0, "a", 10, NEAR);
    assertThat(measurements.summary("b", PARAMS, "rate")).isEmpty();
    assertThat(measurements.ratio("a", "b", PARAMS, "rate")).isEmpty();
    assertThat(goal(Bound.AT_LEAST).verdict(measurements, PARAMS)).isEmpty();
  }

  @Test
  void aVerdictSaysWhetherTheMedianRatioIsWithinTheLimit() {
    add(0, "a", 11, NEAR);
    add(0, "b", 10, NEAR);
    assertThat(goal(Bound.AT_LEAST).verdict(measurements, PARAMS))
        .contains("met     speed of a: 1.10 of b (1.10 .. 1.10), goal at least 1.05");
    assertThat(goal(Bound.AT_MOST).verdict(measurements, PARAMS))
        .contains("missed  speed of a: 1.10 of b (1.10 .. 1.10), goal at most 1.05");
  }

  private static Goal goal(Bound bound) {
    return new Goal("a", "b", "rate", "speed", bound, 1.05);
  }
}
