package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.signals.SignalCatalog;
import dev.belfry.signals.Signals;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SignalsCommandTest {
  @TempDir private Path directory;

  private Path catalog(String text, String by) throws IOException {
    try (var resource = SignalCatalog.class.getResourceAsStream("signals.yaml")) {
      String bundled = new String(resource.readAllBytes(), StandardCharsets.UTF_8);
      assertThat(bundled).contains(text);
      return Files.writeString(directory.resolve("c.yaml"), bundled.replace(text, by));
    }
  }

  @Test
  void theListNamesEverySignalWithItsCodeAndWhetherItIsHere() {
    CommandRun run = CommandRun.of("signals");
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .containsPattern("SIGTERM +15 +143 +30 s +graceful_shutdown +native")
        .containsPattern("SIGKILL +9 +137 .* not catchable")
        .contains(Signals.list());
  }

  @Test
  void theListIsAlsoJson() {
    CommandRun run = CommandRun.of("signals", "--json");
    assertThat(run.exitCode()).isZero();
    JsonNode list = JsonMapper.shared().readTree(run.out());
    assertThat(list.size()).isEqualTo(9);
    assertThat(list.get(0).get("name").asString()).isEqualTo("SIGTERM");
    assertThat(list.get(0).get("exitCode").asInt()).isEqualTo(143);
    assertThat(list.get(0).get("supported").asBoolean()).isTrue();
  }

  @Test
  void resolvePrintsTheNameOrAHyphenForEach() {
    assertThat(CommandRun.of("signals", "resolve", "term", "9", " usr1 "))
        .isEqualTo(new CommandRun(0, "SIGTERM\nSIGKILL\nSIGUSR1\n", ""));
    assertThat(CommandRun.of("signals", "resolve", "FOO", "int", ""))
        .isEqualTo(new CommandRun(1, "-\nSIGINT\n-\n", ""));
  }

  @Test
  void resolveWithoutATextIsWrongUse() {
    assertThat(CommandRun.of("signals", "resolve").exitCode()).isEqualTo(2);
  }

  @Test
  void matchPrintsTheNames() {
    assertThat(CommandRun.of("signals", "match", "*usr?"))
        .isEqualTo(new CommandRun(0, "SIGUSR1\nSIGUSR2\n", ""));
    assertThat(CommandRun.of("signals", "match", "TERM")).isEqualTo(new CommandRun(0, "", ""));
  }

  @Test
  void checkAcceptsAValidCatalog() throws IOException {
    Path valid = catalog("v1.0.0", "v1.0.1");
    assertThat(CommandRun.of("signals", "check", valid.toString()))
        .isEqualTo(new CommandRun(0, valid + " is valid: 9 signals, 6 behaviors\n", ""));
  }

  @Test
  void checkPrintsEveryFaultWithItsLineAndField() throws IOException {
    Path invalid = catalog("exit_code: 143", "exit_code: 300");
    Files.writeString(
        invalid, Files.readString(invalid).replace("name: SIGINT", "name: interrupt"));
    CommandRun run = CommandRun.of("signals", "check", invalid.toString());
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out().lines())
        .satisfiesExactly(
            first ->
                assertThat(first)
                    .matches(
                        ".*/c\\.yaml:\\d+: signals\\[0]\\.exit_code: 300 must be between 0 and 255"),
            second -> assertThat(second).contains(": signals[1].name: 'interrupt' must match"));
  }

  /** Regression: it printed a stack trace. */
  @Test
  void checkRefusesWhatIsNestedTooDeeply() throws IOException {
    Path file = Files.writeString(directory.resolve("deep.yaml"), "[".repeat(100_000));
    CommandRun run = CommandRun.of("signals", "check", file.toString());
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out() + run.err()).contains("nested too deeply");
  }

  @Test
  void checkOfAFileThatIsNotThereFails() {
    CommandRun run = CommandRun.of("signals", "check", directory.resolve("none").toString());
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).startsWith("belfry signals check: there is no file ");
  }

  @Test
  void everyCommandUsesAnotherCatalogIfTold() throws IOException {
    String other = catalog("SIGUSR2", "SIGBELL").toString();
    assertThat(CommandRun.of("signals", "--catalog", other).out())
        .contains("SIGBELL")
        .doesNotContain("SIGUSR2");
    assertThat(CommandRun.of("signals", "resolve", "--catalog", other, "bell", "usr2"))
        .isEqualTo(new CommandRun(0, "SIGBELL\nSIGBELL\n", "")); // the id is still usr2
    assertThat(CommandRun.of("signals", "--catalog", other, "match", "*b*").out())
        .isEqualTo("SIGBELL\n");
  }

  @Test
  void aBadCatalogIsRefusedWithItsFaults() throws IOException {
    String bad = catalog("exit_code: 143", "exit_code: 1").toString();
    CommandRun run = CommandRun.of("signals", "match", "--catalog", bad, "*");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).contains("is not a valid catalog", "signals[0].exit_code: 1 must be 143");
  }

  @Test
  void anUnknownCommandIsRefused() {
    CommandRun run = CommandRun.of("signals", "resolv");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("belfry signals: Unknown command 'resolv'.");
  }
}
