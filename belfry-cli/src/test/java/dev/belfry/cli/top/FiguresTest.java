package dev.belfry.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FiguresTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | 0",
        "0.4 | 0",
        "7 | 7",
        "4711 | 4,711",
        "99999 | 99,999",
        "100000 | 100k",
        "999499 | 999k",
        "999500 | 1.00M",
        "1234567 | 1.23M",
        "98765432 | 98.8M",
        "1e18 | 1.00E"
      })
  void countsAreShort(double value, String text) {
    assertThat(Figures.count(value)).isEqualTo(text).hasSizeLessThanOrEqualTo(7);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | -",
        "850 | 850 ns",
        "1000 | 1.00 µs",
        "4213 | 4.21 µs",
        "18300 | 18.3 µs",
        "999499 | 999 µs",
        "999500 | 1.00 ms",
        "2500000000 | 2.50 s",
        "3600000000000 | 3600 s"
      })
  void latenciesHaveThreeDigitsAndAUnit(long nanos, String text) {
    assertThat(Figures.latency(nanos, false)).isEqualTo(text).hasSizeLessThanOrEqualTo(7);
    assertThat(Figures.latency(nanos, true)).isEqualTo(text.replace('µ', 'u'));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0s",
    "59, 59s",
    "60, 1m00s",
    "3599, 59m59s",
    "3600, 1h00m",
    "86399, 23h59m",
    "86400, 1d00h",
    "1047600, 12d03h"
  })
  void agesHaveTheirTwoLargestUnits(long seconds, String text) {
    assertThat(Figures.age(Duration.ofSeconds(seconds))).isEqualTo(text);
  }
}
