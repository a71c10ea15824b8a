package dev.belfry.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ChartTest {
  private static final List<Double> VALUES = List.of(0.0, 1.0, 25.0, 50.0, 100.0);

  @Test
  void theLatestIsAtTheRightAndNothingIsALine() {
    assertThat(Chart.bars(VALUES, 100, 8, 1, false)).containsExactly("   ▁▂▂▄█");
    assertThat(Chart.bars(VALUES, 100, 5, 1, true)).containsExactly("_..=#");
  }

  @Test
  void tallBarsTakeSeveralLines() {
    assertThat(Chart.bars(VALUES, 100, 5, 2, false)).containsExactly("    █", "▁▂▄██");
  }

  @Test
  void whereAllIsZeroThereIsALine() {
    assertThat(Chart.bars(List.of(0.0, 0.0), 0, 3, 2, false)).containsExactly("   ", " ▁▁");
  }

  @Test
  void aGaugeShowsAnythingThatIsThere() {
    assertThat(Chart.gauge(0, 100, 10, false)).isEqualTo("░░░░░░░░░░");
    assertThat(Chart.gauge(1, 100, 10, false)).isEqualTo("█░░░░░░░░░");
    assertThat(Chart.gauge(50, 100, 10, true)).isEqualTo("#####.....");
    assertThat(Chart.gauge(200, 100, 10, false)).isEqualTo("██████████");
    assertThat(Chart.gauge(0, 0, 3, false)).isEqualTo("░░░");
  }
}
