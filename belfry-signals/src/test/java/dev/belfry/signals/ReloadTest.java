package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

// r[verify signals.deps.callbacks]
@Timeout(60)
final class ReloadTest {
  @AutoClose private final SignalsTesting test = SignalsTesting.open();
  private final Signals signals = test.signals();

  private List<SignalRecord> records(String event) {
    return test.records().stream().filter(it -> it.event().equals(event)).toList();
  }

  private long alerts() {
    return test.events().stream()
        .filter(it -> it.isAlert() && it.name().equals("config_reload_failures"))
        .count();
  }

  // r[verify signals.reload.validate]
  // r[verify signals.reload.restart]
  // r[verify signals.reload.log-receipt]
  // r[verify signals.test.reload]
  @Test
  void aValidConfigurationLeadsToAShutdownAndExit129() {
    var trace = new CopyOnWriteArrayList<String>();
    signals.onShutdown("cleanup", () -> trace.add("cleanup"));
    signals.onReload(
        () -> {
          assertThat(records("signal.reload_validating")).hasSize(1);
          trace.add("load and validate");
          return List.of();
        });
    test.inject("HUP");
    assertThat(trace).containsExactly("load and validate", "cleanup");
    assertThat(test.exits()).containsExactly(129);
  }

  // r[verify signals.reload.reject-log]
  @Test
  void anInvalidConfigurationIsLoggedAsAnErrorAndRejected() {
    signals.onReload(() -> List.of("port must be a number", "host is missing"));
    test.inject("HUP");
    signals.onReload(
        () -> {
          throw new IOException("config.yaml: no such file");
        });
    test.inject("HUP");

    assertThat(test.exits()).isEmpty();
    assertThat(records("signal.reload_rejected"))
        .allSatisfy(it -> assertThat(it.level()).isEqualTo(Level.ERROR))
        .extracting(it -> it.fields().get("reason"))
        .containsExactly(
            "the new configuration is invalid: port must be a number; host is missing",
            "the new configuration cannot be loaded: java.io.IOException: config.yaml: no such file");
    assertThat(records("signal.reload_rejected").getFirst().error()).isNull();
    assertThat(records("signal.reload_rejected").getLast().error()).isInstanceOf(IOException.class);
  }

  /** An exception whose toString throws used to block all later reloads. */
  @Test
  void aValidatorThatThrowsWhatCannotBeShownRejectsToo() {
    signals.onReload(
        () -> {
          throw new Unspeakable();
        });
    for (int times = 1; times <= 2; times++) {
      int expected = times;
      var _ = test.injectAsync("HUP");
      await().untilAsserted(() -> assertThat(signals.reloadFailures()).isEqualTo(expected));
    }
    assertThat(records("signal.reload_rejected"))
        .extracting(it -> it.fields().get("reason"))
        .containsOnly("the new configuration cannot be loaded: " + Unspeakable.class.getName());
  }

  // r[verify signals.reload.reject-continue]
  @Test
  void afterARejectionEverythingGoesOn() {
    var cleanups = new AtomicInteger();
    signals.onShutdown("cleanup", cleanups::incrementAndGet);
    signals.onReload(() -> List.of("no"));
    test.inject("HUP");
    test.inject("HUP");
    assertThat(records("signal.reload_rejected")).hasSize(2);
    assertThat(cleanups).hasValue(0);
    test.inject("TERM");
    assertThat(test.exits()).containsExactly(143);
  }

  /**
   * The log used to say that the reload was rejected and the process went on, although it was
   * ending.
   */
  @Test
  void aHandlerThatEndsTheProgramLeavesNothingToReload() {
    var looked = new AtomicBoolean();
    signals.handle(
        "HUP",
        signal -> {
          signals.shutdown(signal);
          await()
              .until(
                  () ->
                      test.exits()
                          .equals(List.of(129))); // the shutdown is over before the validation
        });
    signals.onReload(
        () -> {
          looked.set(true);
          return List.of("no");
        });
    test.inject("HUP");
    assertThat(looked).isFalse();
    assertThat(records("signal.reload_rejected")).isEmpty();
  }

  @Test
  void withoutAValidatorThereIsNothingToValidate() {
    test.inject("HUP");
    assertThat(test.exits()).isEmpty();
    assertThat(records("signal.reload_rejected"))
        .singleElement()
        .satisfies(it -> assertThat(it.fields().get("reason")).startsWith("there is nothing to"));
    assertThat(signals.reloadFailures()).isZero();
  }

  @Test
  void hangUpsDuringACheckAreMergedIntoOneMore() {
    var checks = new AtomicInteger();
    var proceed = new CountDownLatch(1);
    signals.onReload(
        () -> {
          checks.incrementAndGet();
          proceed.await();
          return List.of("no");
        });
    var all = new ArrayList<CompletableFuture<Void>>();
    all.add(test.injectAsync("HUP"));
    await().until(() -> checks.get() == 1);
    for (int i = 0; i < 10; i++) {
      all.add(test.injectAsync("HUP"));
    }
    proceed.countDown();
    all.forEach(CompletableFuture::join);
    assertThat(checks).hasValue(2);
  }

  // r[verify signals.strikes.count]
  // r[verify signals.strikes.reset]
  // r[verify signals.strikes.alert]
  @Test
  void theThirdFailureInARowRaisesAnAlert() {
    var valid = new AtomicBoolean();
    signals.onReload(() -> valid.get() ? List.of() : List.of("no"));
    test.inject("HUP");
    test.inject("HUP");
    assertThat(signals.reloadFailures()).isEqualTo(2);
    assertThat(alerts()).isZero();
    test.inject("HUP");
    assertThat(alerts()).isEqualTo(1);
    assertThat(records("signal.reload_failures"))
        .singleElement()
        .satisfies(it -> assertThat(it.fields()).containsEntry("severity", "critical"));
    test.inject("HUP");
    assertThat(alerts()).isEqualTo(2);

    valid.set(true);
    test.inject("HUP");
    assertThat(signals.reloadFailures()).isZero();
    valid.set(false);
    test.inject("HUP");
    assertThat(signals.reloadFailures()).isEqualTo(1);
    assertThat(alerts()).isEqualTo(2);
  }

  @Test
  void aReloadDuringAShutdownIsIgnored() {
    var proceed = new CountDownLatch(1);
    var checks = new AtomicInteger();
    signals.onReload(
        () -> {
          checks.incrementAndGet();
          return List.of();
        });
    signals.onShutdown("slow", proceed::await);
    var end = test.injectAsync("TERM");
    await().until(() -> !records("signal.steps_started").isEmpty());
    test.inject("HUP");
    proceed.countDown();
    end.join();
    assertThat(checks).hasValue(0);
    assertThat(test.exits()).containsExactly(143);
  }
}
