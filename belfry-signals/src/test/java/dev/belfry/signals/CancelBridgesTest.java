package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class CancelBridgesTest {
  @AutoClose private final SignalsTesting test = SignalsTesting.open();
  private final Signals signals = test.signals();

  // r[verify signals.cancel.bridge]
  @Test
  void aFutureTiedToASignalIsCancelledByIt() {
    var work = new CompletableFuture<String>();
    signals.cancel(List.of("TERM", "INT"), () -> work.cancel(true));
    test.inject("INT");
    assertThat(work).isCancelled();
  }

  @Test
  void aCancellationRunsOnce() {
    var calls = new AtomicInteger();
    signals.cancel(List.of("USR1", "USR2"), calls::incrementAndGet);
    test.inject("USR1");
    test.inject("USR2");
    assertThat(calls).hasValue(1);
  }

  @Test
  void oneThatWasTakenAwayDoesNotRun() {
    var calls = new AtomicInteger();
    signals.cancel(List.of("USR1"), calls::incrementAndGet).close();
    test.inject("USR1");
    assertThat(calls).hasValue(0);
  }

  @Test
  void theNextSignalCompletesAFuture() {
    CompletableFuture<Signal> next = signals.next("USR1", "USR2");
    assertThat(next).isNotDone();
    test.inject("USR2");
    assertThat(next).isCompletedWithValueMatching(it -> it.name().equals("SIGUSR2"));
  }

  @Test
  void aFutureThatIsGivenUpLeavesNoHandlerBehind() {
    Signal user = signals.catalog().byId("usr1").orElseThrow();
    signals.next("USR1").cancel(true);
    assertThat(signals.activeHandlers(user)).isZero();
  }

  @Test
  void aThreadIsInterrupted() throws InterruptedException {
    var interrupted = new CountDownLatch(1);
    Thread sleeper =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    interrupted.countDown();
                  }
                });
    signals.interrupt(sleeper, "TERM");
    test.inject("TERM");
    interrupted.await();
    sleeper.join();
  }

  /**
   * The signals before one that cannot be caught used to stay registered, with no way to remove
   * them.
   */
  @ParameterizedTest
  @ValueSource(strings = {"FOO", "KILL"})
  void aNameThatCannotBeHadRegistersNothing(String name) {
    Signal user = signals.catalog().byId("usr1").orElseThrow();
    assertThatThrownBy(() -> signals.cancel(List.of("USR1", name), () -> {}))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(signals.activeHandlers(user)).isZero();
  }
}
