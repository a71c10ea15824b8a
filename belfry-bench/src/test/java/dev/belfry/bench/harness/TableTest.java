package dev.belfry.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TableTest {
  @Test
  void columnsAreAsWideAsTheirWidestCell() {
    var table = new Table(List.of("who", "n"));
    table.add(List.of("a", "1,000"));
    table.add(List.of("longer", "2"));
    assertThat(table.lines())
        .containsExactly("who         n", "-------------", "a       1,000", "longer      2");
  }

  @Test
  void aRowHasACellForEachHeading() {
    var table = new Table(List.of("who", "n"));
    assertThatIllegalArgumentException().isThrownBy(() -> table.add(List.of("a")));
  }

  @Test
  void contendersStandWithMedianSpreadAndRatioInTheOrderGiven() {
    var measurements = new Measurements("test");
    Map<String, Object> params = Map.of("connections", 16);
    for (int round = 0; round < 3; round++) {
      for (String contender : Rounds.order(List.of("b", "a"), round)) {
        double rate = (contender.equals("a") ? 2000 : 1000) + round;
        measurements.add(
            new Sample(round, contender, params, Map.of("rate", rate), Placement.UNKNOWN));
      }
    }
    var table =
        new ComparisonTable(
            List.of(new Metric("rate", "k/s", 1000, 3)), List.of("b", "did not take part"));
    assertThat(table.lines(measurements, List.of("a", "b", "did not take part"), params))
        .containsExactly(
            "test: connections 16",
            "contender    k/s      min .. max   / b",
            "--------------------------------------",
            "a          2.001  2.000 .. 2.002  2.00",
            "b          1.001  1.000 .. 1.002  1.00");
  }
}
