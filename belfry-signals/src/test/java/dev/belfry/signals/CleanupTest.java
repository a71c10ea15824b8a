package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which cleanups run at a graceful shutdown, in which order, and for how long. */
@Timeout(60)
final class CleanupTest {
  @AutoClose private final SignalsTesting test = SignalsTesting.open();
  private final Signals signals = test.signals();
  private final List<String> ran = new CopyOnWriteArrayList<>();

  // r[verify signals.cleanup.register]
  // r[verify signals.cleanup.lifo]
  // r[verify signals.reload.graceful]
  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP"})
  void cleanupsRunInReverseOrderEachOnce(String signal) {
    signals.onReload(List::of);
    for (String name : List.of("1", "2", "3")) {
      signals.onShutdown(name, () -> ran.add(name));
    }
    test.inject(signal);
    assertThat(ran).containsExactly("3", "2", "1");
  }

  @Test
  void oneThatThrowsDoesNotKeepTheRestFromRunning() {
    signals.onShutdown("1", () -> ran.add("1"));
    signals.onShutdown(
        "2",
        () -> {
          throw new IOException("disk full");
        });
    signals.onShutdown("3", () -> ran.add("3"));

    test.inject("TERM");

    assertThat(ran).containsExactly("3", "1");
    assertThat(test.exits()).containsExactly(143);
    assertThat(test.records())
        .filteredOn(it -> it.event().equals("signal.cleanup_failed"))
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.fields())
                  .containsEntry("cleanup", "2")
                  .containsEntry("error", "java.io.IOException: disk full");
              assertThat(it.error()).isInstanceOf(IOException.class).hasMessage("disk full");
            });
  }

  /** An exception whose toString throws used to break the chain. */
  @Test
  void norDoesOneThatThrowsWhatCannotBeShown() {
    signals.onShutdown("1", () -> ran.add("1"));
    signals.onShutdown(
        "2",
        () -> {
          throw new Unspeakable();
        });
    signals.onShutdown("3", () -> ran.add("3"));

    var _ = test.injectAsync("TERM");

    await().until(() -> !test.exits().isEmpty());
    assertThat(test.exits()).containsExactly(143);
    assertThat(ran).containsExactly("3", "1");
    assertThat(test.records())
        .filteredOn(it -> it.event().equals("signal.cleanup_failed"))
        .extracting(it -> it.fields().get("error"))
        .containsExactly(Unspeakable.class.getName());
  }

  /** The interrupt flag used to stay set, so that the next cleanup's waits were cut short. */
  @ParameterizedTest
  @ValueSource(strings = {"TERM", "HUP"})
  void anInterruptThatOneLeavesBehindDoesNotReachTheNext(String signal) {
    signals.onReload(
        () -> {
          Thread.currentThread().interrupt();
          return List.of();
        });
    signals.onShutdown("1", () -> ran.add("1 " + Thread.currentThread().isInterrupted()));
    signals.onShutdown("2", () -> Thread.currentThread().interrupt());
    signals.onShutdown("3", () -> ran.add("3 " + Thread.currentThread().isInterrupted()));
    signals.handle(signal, _ -> Thread.currentThread().interrupt());
    signals.handle(signal, _ -> ran.add("handler " + Thread.currentThread().isInterrupted()));

    test.inject(signal);

    assertThat(ran).containsExactly("handler false", "3 false", "1 false");
  }

  @Test
  void oneThatWasTakenAwayDoesNotRun() {
    signals.onShutdown("kept", () -> ran.add("kept"));
    signals.onShutdown("closed", () -> ran.add("closed")).close();
    test.inject("TERM");
    assertThat(ran).containsExactly("kept");
  }

  @Test
  void oneThatIsAddedDuringTheEndRunsToo() {
    signals.onShutdown("first", () -> signals.onShutdown("late", () -> ran.add("late")));
    test.inject("TERM");
    assertThat(ran).containsExactly("late");
  }

  // r[verify signals.timeout.catalog]
  @ParameterizedTest
  @CsvSource({"TERM, 30, 143", "INT, 5, 130", "HUP, 30, 129"})
  void afterTheTimeLimitTheProcessExitsAllTheSame(String signal, int seconds, int code) {
    var never = new CountDownLatch(1);
    signals.onReload(List::of);
    signals.onShutdown("not reached", () -> ran.add("not reached"));
    signals.onShutdown("stuck", never::await);
    CompletableFuture<Void> end = test.injectAsync(signal);
    await().until(() -> test.records().stream().anyMatch(it -> it.event().endsWith("started")));

    test.clock().advance(Duration.ofSeconds(seconds).minusNanos(1));
    assertThat(test.exits()).isEmpty();
    test.clock().advance(Duration.ofNanos(1));

    assertThat(test.exits()).containsExactly(code);
    end.join();
    assertThat(test.records())
        .filteredOn(it -> it.event().equals("signal.unfinished"))
        .singleElement()
        .satisfies(it -> assertThat(it.fields()).containsEntry("cleanups", "stuck, not reached"));
    never.countDown();
    assertThat(ran).isEmpty();
  }

  /** A limit below a second used to be reported as "after 0 s". */
  @ParameterizedTest
  @CsvSource({"500, 0.5 s", "1500, 1.5 s", "30000, 30 s"})
  void whatIsNotFinishedIsSaidWithItsTimeLimit(long millis, String shown) {
    Duration limit = Duration.ofMillis(millis);
    var never = new CountDownLatch(1);
    try (SignalsTesting hasty =
        SignalsTesting.open(SignalCatalog.bundled().withTimeLimit(limit), Platform.LINUX)) {
      hasty.signals().onShutdown("stuck", never::await);
      CompletableFuture<Void> end = hasty.injectAsync("TERM");
      hasty.clock().advance(limit);
      end.join();
      assertThat(hasty.records())
          .filteredOn(it -> it.event().equals("signal.unfinished"))
          .extracting(SignalRecord::message)
          .containsExactly("not finished after " + shown);
    } finally {
      never.countDown();
    }
  }

  @Test
  void aHandlerThatHangsIsCutOffByTheSameLimit() {
    var never = new CountDownLatch(1);
    signals.handle("TERM", _ -> never.await());
    var _ = test.injectAsync("TERM");
    test.clock().advance(Duration.ofSeconds(30));
    assertThat(test.exits()).containsExactly(143);
    never.countDown();
  }
}
