package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
final class DoubleTapTest {
  private static final String HINT = "Press Ctrl+C again within 2s to force quit";

  @AutoClose private final SignalsTesting test = SignalsTesting.open();
  private final Signals signals = test.signals();
  private final AtomicInteger cleanups = new AtomicInteger();
  private final CountDownLatch proceed = new CountDownLatch(1);
  private volatile @Nullable Thread wentOn;

  @AfterEach
  void letGo() {
    proceed.countDown();
  }

  private void hangInCleanup() {
    signals.onShutdown(
        "hanging",
        () -> {
          cleanups.incrementAndGet();
          proceed.await();
          wentOn = Thread.currentThread();
        });
  }

  /** Whether the thread that hung has finished and waits for other work. */
  private boolean isIdleAgain() {
    Thread thread = wentOn;
    return thread != null && thread.getState().name().endsWith("WAITING");
  }

  // r[verify signals.doubletap.first]
  // r[verify signals.doubletap.hint]
  // r[verify signals.test.doubletap]
  @Test
  void theFirstPressStartsTheGracefulShutdownAndHints() {
    signals.onShutdown("cleanup", cleanups::incrementAndGet);
    test.inject("INT");
    assertThat(cleanups).hasValue(1);
    assertThat(test.exits()).containsExactly(130);
    await().until(() -> test.notices().contains(HINT));
  }

  // r[verify signals.doubletap.force-note]
  // r[verify signals.doubletap.exit]
  @Test
  void theSecondPressForcesTheExitWhileCleanupHangs() {
    hangInCleanup();
    var _ = test.injectAsync("INT");
    await().until(() -> cleanups.get() == 1);
    test.inject("INT");
    assertThat(test.exits()).containsExactly(130);
    assertThat(test.notices()).contains("Force quitting...");
  }

  // r[verify signals.doubletap.force]
  @Test
  void theSecondPressForcesTheExitWhileAHandlerHangs() {
    signals.handle("INT", _ -> proceed.await());
    var _ = test.injectAsync("INT");
    test.inject("INT");
    assertThat(test.exits()).containsExactly(130);
  }

  // r[verify signals.doubletap.reset]
  @Test
  void aLatePressHintsAgainAndRerunsNothing() {
    signals.onShutdown("done before", cleanups::incrementAndGet);
    hangInCleanup();
    signals.onShutdown("done first", cleanups::incrementAndGet);
    var end = test.injectAsync("INT");
    await().until(() -> cleanups.get() == 2);
    test.clock().advance(Duration.ofMillis(2500));
    test.inject("INT");
    await().until(() -> test.notices().stream().filter(HINT::equals).count() == 2);
    assertThat(test.exits()).isEmpty();
    assertThat(cleanups).hasValue(2);

    test.clock().advance(Duration.ofSeconds(1));
    test.inject("INT"); // within the window of the late press
    assertThat(test.exits()).containsExactly(130);
    end.join();

    proceed.countDown(); // the hanging thread resumes, and must neither run the rest nor exit again
    await().until(this::isIdleAgain);
    assertThat(test.exits()).containsExactly(130);
    assertThat(cleanups).hasValue(2);
  }

  // r[verify signals.doubletap.window]
  @ParameterizedTest
  @CsvSource({"1999, true", "2000, false", "2001, false"})
  void theWindowIsTwoSecondsStrictly(long millis, boolean forced) {
    hangInCleanup();
    var _ = test.injectAsync("INT");
    await().until(() -> cleanups.get() == 1);
    test.clock().advance(Duration.ofMillis(millis));
    test.inject("INT");
    assertThat(test.exits()).hasSize(forced ? 1 : 0);
  }

  @Test
  void theCatalogSaysHowLongAndWhat() throws Exception {
    SignalCatalog other =
        SignalCatalogTest.altered(
            "double_tap_window_seconds: 2", "double_tap_window_seconds: 4",
            "Press Ctrl+C again within 2s to force quit", "Once more!");
    try (SignalsTesting altered = SignalsTesting.open(other, Platform.LINUX)) {
      altered.signals().handle("INT", _ -> proceed.await());
      var _ = altered.injectAsync("INT");
      altered.clock().advance(Duration.ofMillis(3900));
      altered.inject("INT");
      assertThat(altered.exits()).containsExactly(130);
      await().until(() -> altered.notices().contains("Once more!"));
    }
  }

  @Test
  void twoPressesForceTheExitAlsoDuringAnotherShutdown() {
    hangInCleanup();
    var _ = test.injectAsync("TERM");
    await().until(() -> cleanups.get() == 1);
    test.inject("INT");
    assertThat(test.exits()).isEmpty();
    test.inject("INT");
    assertThat(test.exits()).containsExactly(130);
  }

  // r[verify signals.doubletap.exists]
  @Test
  void nobodyHasToAskForIt() {
    assertThat(test.subscriptions()).contains("SIGINT");
    test.inject("INT");
    await().until(() -> test.notices().contains(HINT));
  }
}
