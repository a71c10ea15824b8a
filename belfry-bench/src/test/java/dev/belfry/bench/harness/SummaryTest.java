package dev.belfry.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class SummaryTest {
  @Test
  void theMedianOfAnOddNumberOfFiguresIsTheMiddleOne() {
    assertThat(Summary.of(List.of(9.0, 1.0, 5.0))).isEqualTo(new Summary(3, 1, 3, 5, 7, 9));
  }

  @Test
  void theMedianOfAnEvenNumberOfFiguresLiesBetweenTheTwoInTheMiddle() {
    assertThat(Summary.of(List.of(4.0, 1.0, 2.0, 3.0)).median()).isEqualTo(2.5);
  }

  @Test
  void oneFigureIsItsOwnSummary() {
    assertThat(Summary.of(List.of(7.0))).isEqualTo(new Summary(1, 7, 7, 7, 7, 7));
  }

  @Test
  void nothingCannotBeSummedUp() {
    assertThatIllegalArgumentException().isThrownBy(() -> Summary.of(List.of()));
  }

  @Test
  void aPercentileIsOneOfTheFigures() {
    long[] hundred = new long[100];
    for (int i = 0; i < hundred.length; i++) {
      hundred[i] = 100L - i; // not sorted
    }
    assertThat(Summary.percentile(hundred, 50)).isEqualTo(50);
    assertThat(Summary.percentile(hundred, 99)).isEqualTo(99);
    assertThat(Summary.percentile(hundred, 100)).isEqualTo(100);
    assertThat(Summary.percentile(new long[] {3}, 99)).isEqualTo(3);
  }
}
