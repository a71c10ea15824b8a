package dev.belfry.signals;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.hamcrest.Matchers;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class HandlersTest {
  @AutoClose private final SignalsTesting test = SignalsTesting.open();
  private final Signals signals = test.signals();

  // r[verify signals.register.arg]
  // r[verify signals.inject.api]
  @Test
  void aHandlerIsGivenTheSignalThatCame() {
    var seen = new ArrayList<String>();
    signals.handle("USR1", signal -> seen.add(signal.name()));
    signals.handle("USR2", signal -> seen.add(signal.name()));

    test.inject("USR2");
    test.inject("USR1");

    assertThat(seen).containsExactly("SIGUSR2", "SIGUSR1");
  }

  // r[verify signals.register.api]
  @Test
  void registeringForOneSignalChangesNothingForTheOthers() {
    signals.handle("USR1", _ -> {});
    test.inject("TERM");
    assertThat(test.exits()).containsExactly(143);
  }

  @Test
  void handlersRunBeforeTheBehaviourWhichGoesOn() {
    var order = new CopyOnWriteArrayList<String>();
    signals.onShutdown("cleanup", () -> order.add("cleanup"));
    signals.handle("TERM", _ -> order.add("handler"));

    test.inject("TERM");

    assertThat(order).containsExactly("handler", "cleanup");
    assertThat(test.exits()).containsExactly(143);
  }

  // The signal used to be subscribed to, never given back, and reported as receivable.
  @Test
  void aHandlerThatComesAfterTheCloseAsksForNothingAndSaysSo() {
    var source = new OnDemand();
    Signals closed = Signals.builder().source(source).log(_ -> {}).open();
    closed.close();

    SignalRegistration late = closed.handle("USR2", _ -> {});

    assertThat(late.inactiveReason()).hasValue("the signals were closed");
    assertThat(closed.receivable(late.signal()).isReceivable()).isFalse();
    assertThat(source.asked).isEmpty();
  }

  /** A source whose signals are taken only on demand. */
  private static final class OnDemand implements SignalSource {
    private final List<String> asked = new ArrayList<>();

    @Override
    public String name() {
      return "on demand";
    }

    @Override
    public boolean onlyOnDemand(Signal signal) {
      return true;
    }

    @Override
    public Optional<String> subscribe(Signal signal, Receiver receiver) {
      asked.add(signal.name());
      return Optional.empty();
    }

    @Override
    public void close() {}
  }

  // The future used to stay incomplete forever.
  @Test
  void whatIsInjectedAfterTheCloseSetsNothingOff() {
    var seen = new CopyOnWriteArrayList<Signal>();
    signals.handle("USR1", seen::add);
    test.close();
    assertThat(test.injectAsync("USR1")).isCompleted();
    assertThat(seen).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ABC", "ACB", "BAC", "BCA", "CAB", "CBA"})
  void closingTakesAwayExactlyThatHandlerInAnyOrder(String order) {
    var seen = new ArrayList<String>();
    var left = new ArrayList<>(List.of("A", "B", "C"));
    var registrations = new HashMap<String, SignalRegistration>();
    for (String name : left) {
      registrations.put(name, signals.handle("USR1", _ -> seen.add(name)));
    }
    for (String name : order.chars().mapToObj(Character::toString).toList()) {
      SignalRegistration registration = Objects.requireNonNull(registrations.get(name));
      registration.close();
      registration.close(); // the second time nothing happens
      left.remove(name);
      seen.clear();
      test.inject("USR1");
      assertThat(seen).isEqualTo(left);
    }
  }

  @Test
  void aHandlerThatThrowsKeepsNobodyFromRunning() {
    var ran = new AtomicInteger();
    signals.handle(
        "TERM",
        _ -> {
          throw new Exception("no");
        });
    signals.handle(
        "TERM",
        _ -> {
          throw new StackOverflowError();
        });
    signals.handle("TERM", _ -> ran.incrementAndGet());

    test.inject("TERM");

    assertThat(ran).hasValue(1);
    assertThat(test.exits()).containsExactly(143);
    assertThat(test.records())
        .filteredOn(it -> it.event().equals("signal.handler_failed"))
        .extracting(it -> it.fields().get("error"))
        .containsExactly("java.lang.Exception: no", "java.lang.StackOverflowError");
  }

  /** The log used not to show where a handler failed. */
  @Test
  void theRecordOfAFailureHasItsStackTrace() {
    var failure = new Exception("no");
    signals.handle(
        "USR1",
        _ -> {
          throw failure;
        });
    signals.handle(
        "USR1",
        _ -> {
          throw new Unspeakable(); // its stack trace cannot be printed
        });

    test.inject("USR1");

    assertThat(test.records())
        .filteredOn(it -> it.event().equals("signal.handler_failed"))
        .extracting(SignalRecord::error)
        .containsExactly(failure, null);
    assertThat(test.records())
        .filteredOn(it -> it.event().equals("signal.handled"))
        .extracting(SignalRecord::error)
        .containsOnlyNulls();
  }

  /** An exception whose toString throws used to block the signal forever. */
  @ParameterizedTest
  @ValueSource(strings = {"USR1", "TERM"})
  void norDoesOneThatThrowsWhatCannotBeShown(String signal) {
    var ran = new AtomicInteger();
    signals.handle(
        signal,
        _ -> {
          throw new Unspeakable();
        });
    signals.handle(signal, _ -> ran.incrementAndGet());

    for (int times = 1; times <= 2; times++) {
      var _ = test.injectAsync(signal);
      Awaitility.await().untilAtomic(ran, Matchers.equalTo(times));
    }
    if (signal.equals("TERM")) {
      Awaitility.await().untilAsserted(() -> assertThat(test.exits()).containsExactly(143, 143));
    }
  }

  /** The lane used to stay busy forever. */
  @Test
  void anErrorThatNobodyCatchesCostsOnlyTheSignalItCameWith() throws Exception {
    Signal signal = signals.catalog().byId("usr1").orElseThrow();
    var proceed = new CountDownLatch(1);
    var times = new AtomicInteger();
    try (var threads = new SignalThreads()) {
      var lane =
          new Lane(
              threads,
              _ -> {
                await(proceed);
                times.incrementAndGet();
                throw new OutOfMemoryError("as if");
              });
      Delivery first = lane.add(new Delivery(signal, "test"));
      Delivery waiting = lane.add(new Delivery(signal, "test"));
      proceed.countDown();
      first.done().get(30, TimeUnit.SECONDS);
      waiting.done().get(30, TimeUnit.SECONDS);
      lane.add(new Delivery(signal, "test")).done().get(30, TimeUnit.SECONDS);
      assertThat(times).hasValue(3);
    }
  }

  @Test
  void eightThreadsRegisterAndCloseAtOnce() throws Exception {
    var calls = new AtomicInteger();
    var start = new CountDownLatch(1);
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 8; i++) {
      threads.add(
          Thread.startVirtualThread(
              () -> {
                await(start);
                for (int round = 0; round < 500; round++) {
                  SignalRegistration kept = signals.handle("USR1", _ -> calls.incrementAndGet());
                  SignalRegistration other = signals.handle("USR1", _ -> calls.incrementAndGet());
                  other.close();
                  if (round < 499) {
                    kept.close();
                  }
                }
              }));
    }
    start.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(signals.activeHandlers(signals.catalog().byId("usr1").orElseThrow())).isEqualTo(8);
    test.inject("USR1");
    assertThat(calls).hasValue(8);
  }

  @Test
  void aSignalThatComesWhileItsHandlerRunsIsMergedAndNobodyIsCalledTwiceAtATime() {
    var running = new AtomicInteger();
    var most = new AtomicInteger();
    var calls = new AtomicInteger();
    var release = new CountDownLatch(1);
    signals.handle(
        "USR1",
        _ -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          calls.incrementAndGet();
          await(release);
          running.decrementAndGet();
        });
    var all = new ArrayList<CompletableFuture<Void>>();
    for (int i = 0; i < 1000; i++) {
      all.add(test.injectAsync("USR1"));
    }
    release.countDown();
    all.forEach(CompletableFuture::join);
    assertThat(calls).hasValue(2);
    assertThat(most).hasValue(1);
  }

  @Test
  void aHandlerThatHangsDelaysNoOtherSignal() {
    var never = new CountDownLatch(1);
    signals.handle("USR1", _ -> never.await());
    var _ = test.injectAsync("USR1");
    var ran = new AtomicInteger();
    signals.handle("USR2", _ -> ran.incrementAndGet());
    test.inject("USR2");
    assertThat(ran).hasValue(1);
    never.countDown();
  }

  @Test
  void aCustomSignalThatNobodyHandlesIsLoggedOnceAndIgnored() {
    test.inject("USR1");
    test.inject("USR1");
    test.inject("ALRM");
    assertThat(test.exits()).isEmpty();
    assertThat(test.records())
        .filteredOn(it -> it.event().equals("signal.unhandled"))
        .extracting(it -> it.fields().get("signal"))
        .containsExactly("SIGUSR1", "SIGALRM");
  }

  /** The log used to say that the handlers ran, although none was called. */
  @Test
  void handlersRunAlsoWhereACatalogLeavesOutTheirPhase() throws Exception {
    SignalCatalog catalog;
    try (var resource = SignalCatalog.class.getResourceAsStream("signals.yaml")) {
      String text =
          new String(resource.readAllBytes(), UTF_8).replace("- name: delegate", "- name: run");
      catalog = SignalCatalog.parse(text, "without delegate");
    }
    try (SignalsTesting other = SignalsTesting.open(catalog, Platform.LINUX)) {
      var ran = new AtomicInteger();
      other.signals().handle("USR1", _ -> ran.incrementAndGet());
      other.inject("USR1");
      assertThat(ran).hasValue(1);
    }
  }

  @Test
  void pipeIsObservedAndEndsTheProcessOnlyIfTheProgramAsks() {
    test.inject("PIPE");
    assertThat(test.exits()).isEmpty();
    assertThat(test.events())
        .anyMatch(it -> it.tags().getOrDefault("phase", "").equals("telemetry"));

    signals.handle("PIPE", signals::shutdown);
    test.inject("PIPE");
    Awaitility.await().until(() -> !test.exits().isEmpty());
    assertThat(test.exits()).containsExactly(141);
  }

  @Test
  void whatIsNoSignalIsRefusedWithTheNamesThereAre() {
    assertThatThrownBy(() -> signals.handle("FOO", _ -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'FOO'")
        .hasMessageContaining("SIGUSR2");
  }

  static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
