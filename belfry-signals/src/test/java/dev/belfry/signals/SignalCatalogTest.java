package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

final class SignalCatalogTest {
  static final List<String> EIGHT =
      List.of("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGALRM", "SIGUSR1", "SIGUSR2");

  private final SignalCatalog catalog = SignalCatalog.bundled();

  static String bundledText() throws IOException {
    try (var resource = SignalCatalog.class.getResourceAsStream("signals.yaml")) {
      return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** The bundled catalog with replacements; each text to be replaced must occur in it. */
  static SignalCatalog altered(String... replacements) throws Exception {
    String text = bundledText();
    for (int i = 0; i < replacements.length; i += 2) {
      assertThat(text).contains(replacements[i]);
      text = text.replace(replacements[i], replacements[i + 1]);
    }
    return SignalCatalog.parse(text, "altered");
  }

  private Signal signal(String name) {
    return catalog.byName(name).orElseThrow();
  }

  // r[verify signals.catalog.eight]
  @Test
  void theEightAreThereAndKillIsNotCatchable() {
    assertThat(catalog.names()).containsAll(EIGHT).hasSize(9);
    assertThat(catalog.signals()).allSatisfy(it -> assertThat(it.description()).isNotBlank());
    assertThat(EIGHT).allSatisfy(name -> assertThat(signal(name).isCatchable()).isTrue());

    Signal kill = signal("SIGKILL");
    assertThat(kill.isCatchable()).isFalse();
    assertThat(kill.exitCode(Platform.LINUX)).isEqualTo(137);
    try (SignalsTesting test = SignalsTesting.open()) {
      assertThatThrownBy(() -> test.signals().handle("KILL", _ -> {}))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("SIGKILL cannot be caught");
    }
  }

  // r[verify signals.catalog.unix-number]
  // r[verify signals.catalog.windows-event]
  // r[verify signals.catalog.behavior]
  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          SIGTERM, 15, CTRL_CLOSE_EVENT, GRACEFUL_SHUTDOWN
          SIGINT,   2, CTRL_C_EVENT,     GRACEFUL_SHUTDOWN_WITH_DOUBLE_TAP
          SIGHUP,   1, ,                 RELOAD_VIA_RESTART
          SIGQUIT,  3, CTRL_BREAK_EVENT, IMMEDIATE_EXIT
          SIGPIPE, 13, ,                 OBSERVE_ONLY
          SIGALRM, 14, ,                 CUSTOM
          SIGUSR1, 10, ,                 CUSTOM
          SIGUSR2, 12, ,                 CUSTOM
          """)
  void eachSignalHasItsNumberEventAndBehaviour(
      String name, int number, String event, Behavior behavior) throws Exception {
    assertThat(signal(name).number(Platform.LINUX)).isEqualTo(number);
    assertThat(signal(name).windowsEvent().orElse(null)).isEqualTo(event);
    assertThat(signal(name).behavior()).isEqualTo(behavior);
    assertThat(systemsNumber(name)).isEqualTo(number);
  }

  /** What this machine's shell reports. */
  private static int systemsNumber(String name) throws Exception {
    Process kill = new ProcessBuilder("bash", "-c", "kill -l " + name).start();
    return Integer.parseInt(kill.inputReader(StandardCharsets.UTF_8).readLine().strip());
  }

  // r[verify signals.catalog.override]
  // r[verify signals.catalog.exit-code]
  // r[verify signals.test.bsd]
  @ParameterizedTest
  @EnumSource(Platform.class)
  void theBsdsNumberTheUserSignalsDifferently(Platform platform) {
    boolean bsd = platform == Platform.MACOS || platform == Platform.FREEBSD;
    assertThat(signal("SIGUSR1").number(platform)).isEqualTo(bsd ? 30 : 10);
    assertThat(signal("SIGUSR2").number(platform)).isEqualTo(bsd ? 31 : 12);
    Map<String, Integer> codes =
        Map.of(
            "SIGTERM",
            143,
            "SIGINT",
            130,
            "SIGHUP",
            129,
            "SIGQUIT",
            131,
            "SIGPIPE",
            141,
            "SIGALRM",
            142,
            "SIGUSR1",
            bsd ? 158 : 138,
            "SIGUSR2",
            bsd ? 159 : 140);
    codes.forEach(
        (name, code) -> {
          assertThat(signal(name).exitCode(platform)).isEqualTo(code);
          if (!name.startsWith("SIGUSR")) {
            assertThat(signal(name).number(platform)).isEqualTo(signal(name).number());
          }
        });
  }

  // r[verify signals.catalog.behavior-defs]
  @Test
  void everyBehaviourIsDefined() {
    assertThat(catalog.signals())
        .allSatisfy(
            it ->
                assertThat(catalog.behavior(it.behavior().id()).orElseThrow().phases())
                    .isNotEmpty());
    assertThat(catalog.behavior("nap")).isEmpty();
    assertThat(catalog.behaviors()).hasSize(6);
  }

  // r[verify signals.catalog.exit-crossref]
  @Test
  @SuppressWarnings("unchecked")
  void theExitCodeTableAgrees() throws IOException {
    try (var resource = SignalCatalog.class.getResourceAsStream("exit-codes.yaml")) {
      var table =
          (Map<String, List<Map<String, Object>>>)
              new Load(LoadSettings.builder().build()).loadFromInputStream(resource);
      List<Map<String, Object>> rows = table.getOrDefault("signals", List.of());
      assertThat(rows.stream().map(row -> row.get("signal")))
          .containsExactlyInAnyOrderElementsOf(catalog.names());
      for (Map<String, Object> row : rows) {
        Signal signal = signal(String.valueOf(row.get("signal")));
        for (Platform platform : List.of(Platform.LINUX, Platform.MACOS, Platform.FREEBSD)) {
          assertThat(row.get(platform.column()))
              .as("%s on %s", signal, platform)
              .isEqualTo(signal.exitCode(platform));
        }
      }
    }
  }

  // r[verify signals.catalog.fallback-meta]
  @Test
  void whatWindowsLacksHasAFallback() {
    for (String name : EIGHT) {
      Signal signal = signal(name);
      assertThat(signal.windowsFallback().isPresent())
          .as(name)
          .isEqualTo(signal.windowsEvent().isEmpty());
      signal
          .windowsFallback()
          .ifPresent(
              it ->
                  assertThat(
                          Stream.of(
                              it.behavior(),
                              it.logMessage(),
                              it.logTemplate(),
                              it.operationHint(),
                              it.telemetryEvent()))
                      .allSatisfy(text -> assertThat(text).isNotBlank()));
    }
    assertThat(signal("SIGKILL").windowsFallback()).isEmpty();
  }

  static Stream<String> lookups() {
    return Stream.of("sigterm", "TERM", " SIGTERM", "15", "");
  }

  // r[verify signals.lookup.strict]
  @ParameterizedTest
  @MethodSource("lookups")
  void strictLookupsDoNotNormalise(String other) {
    assertThat(catalog.byName("SIGTERM")).containsSame(catalog.byNumber(15).orElseThrow());
    assertThat(catalog.byId("term")).containsSame(signal("SIGTERM"));
    assertThat(catalog.byName(other)).isEmpty();
    assertThat(catalog.byNumber(30, Platform.MACOS)).containsSame(signal("SIGUSR1"));
    assertThat(catalog.byNumber(30, Platform.LINUX)).isEmpty();
  }

  // r[verify signals.catalog.source]
  @Test
  void anAlteredCatalogAltersTheAnswers() throws Exception {
    SignalCatalog other =
        altered(
            "unix_number: 14", "unix_number: 20",
            "exit_code: 142", "exit_code: 148",
            "SIGALRM: 142", "SIGALRM: 148",
            "SIGALRM: 14\n", "SIGALRM: 20\n",
            "double_tap_window_seconds: 2", "double_tap_window_seconds: 7",
            "again within 2s", "once more",
            "timeout_seconds: 5", "timeout_seconds: 9");
    Signal alarm = other.byName("SIGALRM").orElseThrow();
    assertThat(alarm.exitCode(Platform.LINUX)).isEqualTo(148);
    Signal interrupt = other.byName("SIGINT").orElseThrow();
    assertThat(interrupt.timeout().orElseThrow()).hasSeconds(9);
    assertThat(interrupt.doubleTap().orElseThrow().window()).hasSeconds(7);
    assertThat(interrupt.doubleTap().orElseThrow().message())
        .isEqualTo("Press Ctrl+C once more to force quit");
  }

  /** An altered behaviour was only read, never tried. */
  @Test
  void anAlteredBehaviourIsWhatHappens() throws Exception {
    SignalCatalog other =
        altered(
            "A timer has expired\n    default_behavior: custom",
            "A timer has expired\n    default_behavior: immediate_exit",
            "Shut down gracefully\n    default_behavior: graceful_shutdown",
            "Shut down gracefully\n    default_behavior: observe_only");
    try (SignalsTesting test = SignalsTesting.open(other, Platform.LINUX)) {
      var cleanups = new AtomicInteger();
      test.signals().onShutdown("cleanup", cleanups::incrementAndGet);
      test.inject("TERM");
      assertThat(test.exits()).isEmpty();
      test.inject("ALRM");
      assertThat(test.exits()).containsExactly(142);
      assertThat(cleanups).hasValue(0);
    }
  }

  @Test
  void anotherTimeLimitLeavesSignalsWithLessTimeAsTheyAre() {
    assertThat(timeouts(Duration.ofSeconds(60)))
        .isEqualTo(Map.of("SIGTERM", 60L, "SIGHUP", 60L, "SIGINT", 5L, "SIGQUIT", 0L));
    assertThat(timeouts(Duration.ofSeconds(3)))
        .isEqualTo(Map.of("SIGTERM", 3L, "SIGHUP", 3L, "SIGINT", 3L, "SIGQUIT", 0L));
    assertThat(SignalCatalog.bundled().byName("SIGTERM").orElseThrow().timeout())
        .contains(Duration.ofSeconds(30));
  }

  private static Map<String, Long> timeouts(Duration limit) {
    SignalCatalog catalog = SignalCatalog.bundled().withTimeLimit(limit);
    return Stream.of("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
        .map(name -> catalog.byName(name).orElseThrow())
        .collect(Collectors.toMap(Signal::name, it -> it.timeout().orElseThrow().toSeconds()));
  }
}
