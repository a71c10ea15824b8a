package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BelfryCommandTest {
  @Test
  void helpNamesEveryCommand() {
    CommandRun run = CommandRun.of("--help");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("Usage: belfry", "doctor", "help");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void helpOfACommandIsTheSameBothWays() {
    CommandRun run = CommandRun.of("help", "doctor");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("--json").isEqualTo(CommandRun.of("doctor", "--help").out());
  }

  @Test
  void versionNamesTheProgramAndJava() {
    CommandRun run = CommandRun.of("--version");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).startsWith("belfry ").contains("Java " + Runtime.version());
  }

  @Test
  void unknownCommandIsRefusedWithASuggestion() {
    CommandRun run = CommandRun.of("docter");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .isEqualToNormalizingNewlines(
            """
            belfry: Unknown command 'docter'.
            Did you mean: belfry doctor?
            Try 'belfry --help'.
            """);
  }

  @Test
  void badOptionIsRefusedByItsCommand() {
    CommandRun run = CommandRun.of("doctor", "--yaml");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .startsWith("belfry doctor: Unknown option: '--yaml'")
        .endsWith("Try 'belfry doctor --help'.\n");
  }

  @Test
  void superfluousArgumentOfACommandIsNotCalledACommand() {
    CommandRun run = CommandRun.of("doctor", "now");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("belfry doctor: Unmatched argument at index 1: 'now'");
  }

  @Test
  void withoutACommandItSaysThatOneIsWanted() {
    CommandRun run = CommandRun.of();

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("belfry: Say which command to run.");
  }

  @Test
  void helpForAnUnknownCommandIsRefused() {
    CommandRun run = CommandRun.of("help", "docter");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("'docter'");
  }
}
