package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SignoTest {
  @ParameterizedTest
  @CsvSource({
    "1, SIGHUP",
    "9, SIGKILL",
    "15, SIGTERM",
    "16, SIGSTKFLT",
    "31, SIGSYS",
    "32, signal 32",
    "33, signal 33",
    "34, SIGRTMIN",
    "35, SIGRTMIN+1",
    "63, SIGRTMIN+29",
    "64, SIGRTMAX",
    "65, signal 65",
    "0, signal 0",
    "-1, signal -1"
  })
  void everyNumberHasAName(int number, String name) {
    assertThat(Signo.name(number)).isEqualTo(name);
  }
}
