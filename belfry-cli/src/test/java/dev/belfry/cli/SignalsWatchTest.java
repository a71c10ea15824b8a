package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SignalsWatchTest {
  @ParameterizedTest
  @CsvSource({
    "FOO, There is no signal 'FOO'.",
    "0, There is no signal '0'.",
    "KILL, SIGKILL (9) cannot be waited for: the kernel lets nobody handle it",
    "62, the JDK wakes threads with it"
  })
  void whatCannotBeWatchedIsRefused(String signal, String message) {
    CommandRun run = CommandRun.of("signals", "watch", "USR1", signal);

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("belfry signals watch: ").contains(message);
  }
}
