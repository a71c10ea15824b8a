package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

  @ParameterizedTest
  @CsvSource({
    "TERM, 15",
    "sigterm, 15",
    "15, 15",
    "RTMIN, 34",
    "SIGRTMIN+6, 40",
    "rtmax-1, 63",
    "64, 64",
    "RTMAX, 64"
  })
  void aSignalIsFoundByWhatPeopleWrite(String text, int number) {
    assertThat(Signo.parse(text)).hasValue(number);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "65", "-1", "RTMIN+31", "RTMIN-1", "RTMAX+1", "SIG", "FOO", "TERM "})
  void whatIsNoSignalIsNotFound(String text) {
    assertThat(Signo.parse(text)).isEmpty();
  }
}
