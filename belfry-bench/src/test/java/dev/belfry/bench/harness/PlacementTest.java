package dev.belfry.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.bench.harness.Placement.Distance;
import org.junit.jupiter.api.Test;

class PlacementTest {
  @Test
  void aLongerWayIsAnotherClass() {
    assertThat(Placement.of(30).distance()).isEqualTo(Distance.SAME_CORE);
    assertThat(Placement.of(150).distance()).isEqualTo(Distance.NEAR);
    assertThat(Placement.of(400).distance()).isEqualTo(Distance.FAR);
  }

  @Test
  void processorsThatMovedMeanwhileHaveNoClass() {
    assertThat(Placement.of(150).until(Placement.of(160)).distance()).isEqualTo(Distance.NEAR);
    assertThat(Placement.of(150).until(Placement.of(400)).distance()).isEqualTo(Distance.CHANGED);
  }

  @Test
  void aDisturbedLookSaysNothing() {
    assertThat(Placement.UNKNOWN.until(Placement.of(150))).isEqualTo(Placement.of(150));
    assertThat(Placement.of(150).until(Placement.UNKNOWN)).isEqualTo(Placement.of(150));
  }
}
