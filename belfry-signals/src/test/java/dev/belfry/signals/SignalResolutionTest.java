package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

final class SignalResolutionTest {
  // r[verify signals.resolve.api]
  @ParameterizedTest
  @ValueSource(strings = {"SIGTERM", "TERM", "term", " 15 ", "015", "sigterm", "\tTerm\n", "15"})
  void everyUsualFormIsUnderstood(String text) {
    assertThat(Signals.resolve(text).orElseThrow().name()).isEqualTo("SIGTERM");
  }

  @ParameterizedTest
  @NullAndEmptySource
  @ValueSource(
      strings = {
        "FOO",
        "SIG",
        "SIGSIGTERM",
        "SIGFOO",
        "999",
        "0",
        "-15",
        "-1",
        "+15",
        "15.0",
        "1 5",
        "99999999999999999999",
        "4294967311", // 15 plus 2^32
        "٢",
        "１５",
        "ſigterm",
        "sıgint",
        "   "
      })
  void anythingElseGivesNothing(String text) {
    assertThat(Signals.resolve(text)).isEmpty();
  }

  // r[verify signals.resolve.order]
  @Test
  void theStepsComeInTheirOrder() throws Exception {
    // Ids that equal names or numbers of other signals, so that each step gives another answer.
    SignalCatalog catalog =
        SignalCatalogTest.altered(
            "id: term",
            "id: int",
            "id: int\n    name: SIGINT",
            "id: walk\n    name: SIGINT",
            "id: hup",
            "id: 3a",
            "id: quit",
            "id: sigterm-x",
            "id: pipe",
            "id: kill-9",
            "id: kill\n",
            "id: last-resort\n");
    assertThat(catalog.resolve("SIGINT").orElseThrow().name()).isEqualTo("SIGINT");
    assertThat(catalog.resolve("int").orElseThrow().name()).isEqualTo("SIGINT"); // name before id
    assertThat(catalog.byId("int").orElseThrow().name()).isEqualTo("SIGTERM");
    assertThat(catalog.resolve("3").orElseThrow().name()).isEqualTo("SIGQUIT"); // number before id
    assertThat(catalog.resolve("3a").orElseThrow().name()).isEqualTo("SIGHUP"); // only the id
    assertThat(catalog.resolve("WALK").orElseThrow().name()).isEqualTo("SIGINT");
    assertThat(catalog.resolve("Last-Resort").orElseThrow().name()).isEqualTo("SIGKILL");
  }

  @Test
  void aNumberIsThatOfLinuxOnEveryPlatform() {
    try (SignalsTesting test = SignalsTesting.open(Platform.MACOS)) {
      assertThat(test.signals().catalog().resolve("30")).isEmpty();
      assertThat(test.signals().catalog().resolve("10").orElseThrow().name()).isEqualTo("SIGUSR1");
    }
  }

  @Test
  void theLocaleChangesNothing() {
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.of("tr", "TR"));
      assertThat(Signals.resolve("sigint").orElseThrow().name()).isEqualTo("SIGINT");
      assertThat(Signals.resolve("INT").orElseThrow().id()).isEqualTo("int");
      assertThat(Signals.match("sigint")).containsExactly("SIGINT");
    } finally {
      Locale.setDefault(before);
    }
  }

  // r[verify signals.resolve.list]
  @Test
  void theListHasAllNamesInTheOrderOfTheCatalog() {
    assertThat(Signals.list())
        .containsExactly(
            "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGALRM", "SIGUSR1", "SIGUSR2",
            "SIGKILL");
    assertThatThrownBy(() -> Signals.list().add("SIGFOO"))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  // r[verify signals.resolve.match]
  @Test
  void aGlobMatchesWholeNames() {
    assertThat(Signals.match("*")).isEqualTo(Signals.list());
    assertThat(Signals.match("*USR*")).containsExactly("SIGUSR1", "SIGUSR2");
    assertThat(Signals.match("sigusr?")).containsExactly("SIGUSR1", "SIGUSR2");
    assertThat(Signals.match(" SIG???? "))
        .isEqualTo(Signals.list().stream().filter(name -> name.length() == 7).toList());
    assertThat(Signals.match("SIG*T")).containsExactly("SIGINT", "SIGQUIT");
    for (String none : List.of("TERM", "", "  ", "[A-Z]*", "SIGTERM?", "SIG\\*", "?")) {
      assertThat(Signals.match(none)).as(none).isEmpty();
    }
  }

  @Test
  @Timeout(10) // exponential backtracking would never finish
  void aPatternOfAThousandStarsReturnsAtOnce() {
    assertThat(Signals.match("*".repeat(1000) + "x" + "*?".repeat(500))).isEmpty();
    assertThat(Signals.match("*".repeat(1000))).hasSize(9);
  }
}
