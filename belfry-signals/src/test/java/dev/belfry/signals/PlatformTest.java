package dev.belfry.signals;

import static dev.belfry.signals.SignalCatalogTest.EIGHT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
final class PlatformTest {
  private static final Set<String> MISSING_ON_WINDOWS =
      Set.of("SIGHUP", "SIGPIPE", "SIGALRM", "SIGUSR1", "SIGUSR2");

  // r[verify signals.supports.true]
  // r[verify signals.supports.false]
  // r[verify signals.platform.windows-missing]
  // r[verify signals.supports.deterministic]
  @Test
  void supportIsThatOfTheCatalogWhateverTheOrder() {
    var questions = new ArrayList<Map.Entry<Platform, String>>();
    for (Platform platform : Platform.values()) {
      EIGHT.forEach(name -> questions.add(Map.entry(platform, name)));
    }
    for (int seed = 0; seed < 2; seed++) {
      Collections.shuffle(questions, new Random(seed));
      for (Map.Entry<Platform, String> question : questions) {
        boolean expected =
            question.getKey() != Platform.WINDOWS
                || !MISSING_ON_WINDOWS.contains(question.getValue());
        assertThat(SignalCatalog.bundled().supports(question.getValue(), question.getKey()))
            .as("%s", question)
            .isEqualTo(expected);
      }
    }
  }

  // r[verify signals.supports.matrix]
  @Test
  void oneCellOfTheTableDecides() throws Exception {
    SignalCatalog other =
        SignalCatalogTest.altered(
            "signal: SIGALRM\n    linux: native", "signal: SIGALRM\n    linux: unsupported");
    assertThat(other.supports("ALRM", Platform.LINUX)).isFalse();
    assertThat(other.supports("ALRM", Platform.MACOS)).isTrue();
    assertThat(other.supports("FOO", Platform.LINUX)).isFalse();
  }

  // r[verify signals.supports.api]
  @Test
  void supportedAndReceivableAreTwoQuestions() {
    try (SignalsTesting test = SignalsTesting.open()) {
      boolean supported = test.signals().supports("KILL");
      assertThat(supported).isTrue();
      Receivable receivable =
          test.signals().receivable(test.signals().catalog().byId("kill").orElseThrow());
      assertThat(receivable.isReceivable()).isFalse();
      assertThat(receivable.obstacle()).contains("no program can catch it");
    }
  }

  // r[verify signals.supports.before-register]
  @Test
  void askingHasNoSideEffect() {
    try (SignalsTesting windows = SignalsTesting.open(Platform.WINDOWS)) {
      EIGHT.forEach(windows.signals()::supports);
      assertThat(windows.records()).isEmpty();
      assertThat(windows.events()).isEmpty();
    }
  }

  // r[verify signals.fallback.trigger]
  // r[verify signals.fallback.log-level]
  // r[verify signals.fallback.log-fields]
  // r[verify signals.fallback.log-template]
  // r[verify signals.fallback.event-name]
  // r[verify signals.fallback.event-tags]
  // r[verify signals.fallback.type-from-catalog]
  // r[verify signals.test.windows-smoke]
  // r[verify signals.test.windows-map]
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          SIGHUP  | http_admin_endpoint | POST /admin/signal with signal=HUP
          SIGUSR1 | http_admin_endpoint | POST /admin/signal with signal=USR1
          SIGUSR2 | http_admin_endpoint | POST /admin/signal with signal=USR2
          SIGPIPE | exception_handling  | Catch the IOException of the write
          SIGALRM | timer_api           | Use a ScheduledExecutorService
          """)
  void registeringWhatWindowsLacksIsLoggedAndCountedOnce(String name, String kind, String hint) {
    try (SignalsTesting windows = SignalsTesting.open(Platform.WINDOWS)) {
      SignalRegistration registration = windows.signals().handle(name, _ -> {});

      assertThat(windows.records())
          .singleElement()
          .satisfies(
              it -> {
                assertThat(it.level()).isEqualTo(Level.INFO);
                assertThat(it.fields())
                    .isEqualTo(
                        Map.of(
                            "signal", name,
                            "platform", "windows",
                            "fallback", kind,
                            "operation_hint", hint));
                assertThat(it.message()).startsWith("Windows has no " + name);
                assertThat(it.text())
                    .isEqualTo(
                        "signal=%s platform=windows fallback=%s message='%s'"
                            .formatted(name, kind, hint));
              });
      assertThat(windows.events())
          .containsExactly(
              new SignalsTesting.Event(
                  "fulmen.signal.unsupported",
                  Map.of("signal", name, "platform", "windows", "fallback_behavior", kind),
                  false));
      assertThat(registration.isActive()).isFalse();
      assertThat(registration.inactiveReason()).contains("windows has no " + name);
      registration.close();
    }
  }

  @Test
  void anAlteredCatalogAltersTheFallback() throws Exception {
    SignalCatalog other =
        SignalCatalogTest.altered(
            "fallback_behavior: timer_api", "fallback_behavior: exception_handling");
    try (SignalsTesting windows = SignalsTesting.open(other, Platform.WINDOWS)) {
      windows.signals().handle("ALRM", _ -> {});
      assertThat(windows.records().getFirst().fields())
          .containsEntry("fallback", "exception_handling");
    }
  }

  // r[verify signals.fallback.no-error]
  // r[verify signals.fallback.no-dummy]
  // r[verify signals.fallback.inject-inert]
  // r[verify signals.platform.windows-mapped]
  // r[verify signals.lib.platform]
  // r[verify signals.test.mocks]
  @ParameterizedTest
  @EnumSource(Platform.class)
  void oneProgramRunsOnEveryPlatform(Platform platform) {
    try (SignalsTesting test = SignalsTesting.open(platform)) {
      var called = new AtomicBoolean();
      Signal user = test.signals().catalog().byId("usr1").orElseThrow();
      test.signals().handle(user, _ -> called.set(true));
      test.inject("USR1");

      boolean supported = SignalCatalog.bundled().supports("USR1", platform);
      assertThat(called.get()).isEqualTo(supported);
      assertThat(test.signals().activeHandlers(user)).isEqualTo(supported ? 1 : 0);
      assertThat(test.subscriptions().contains("SIGUSR1")).isEqualTo(supported);
      test.inject("TERM");
      assertThat(test.exits()).containsExactly(143);
    }
  }

  @ParameterizedTest
  @CsvSource({"CTRL_CLOSE_EVENT, TERM", "CTRL_C_EVENT, INT", "CTRL_BREAK_EVENT, QUIT"})
  void consoleEventsOfWindowsReachTheHandlersOfTheirSignals(String event, String signal) {
    try (SignalsTesting windows = SignalsTesting.open(Platform.WINDOWS)) {
      var calls = new AtomicInteger();
      assertThat(windows.signals().handle(signal, _ -> calls.incrementAndGet()).isActive())
          .isTrue();
      windows.injectEvent(event);
      assertThat(calls).hasValue(1);
      assertThat(windows.exits()).hasSize(1);
    }
  }

  // r[verify signals.fallback.http-instead]
  @Test
  void whatIsRaisedInsideReachesHandlersAndReloadOnWindowsToo() {
    try (SignalsTesting windows = SignalsTesting.open(Platform.WINDOWS)) {
      var calls = new AtomicInteger();
      Signals signals = windows.signals();
      signals.handle("USR1", _ -> calls.incrementAndGet());
      signals.onReload(List::of);
      signals.raise(signals.catalog().byId("usr1").orElseThrow(), "test", "why", "req-1");
      signals.raise(signals.catalog().byId("hup").orElseThrow(), "test", "why", "req-2");
      Awaitility.await()
          .untilAsserted(
              () -> {
                assertThat(calls).hasValue(1);
                assertThat(windows.exits()).containsExactly(129);
              });
      assertThat(windows.records())
          .anySatisfy(
              it ->
                  assertThat(it.fields())
                      .containsEntry("correlation_id", "req-1")
                      .containsEntry("origin", "test")
                      .containsEntry("reason", "why"));
    }
  }

  @Test
  void thisMachineIsOneOfThem() {
    assertThat(Platform.current()).isNotNull();
    assertThat(Platform.current() == Platform.WINDOWS)
        .isEqualTo(System.getProperty("os.name").startsWith("Windows"));
  }
}
