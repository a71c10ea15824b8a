package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A shutdown of the process: its phases, its exit code, and what is logged. */
@Timeout(60)
final class ShutdownTest {
  @AutoClose private final SignalsTesting test = SignalsTesting.open();
  private final Signals signals = test.signals();
  private final List<String> ran = new CopyOnWriteArrayList<>();

  /**
   * The shutdown used to be claimed without getting a timer, so that nothing could end the process.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLimitThatNoClockCanCountKeepsNothingFromEnding(boolean real) {
    Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
    var exits = new CopyOnWriteArrayList<Integer>();
    SignalClock clock = real ? new SystemClock() : new ManualClock();
    try (Signals patient =
        Signals.builder()
            .catalog(SignalCatalog.bundled().withTimeLimit(endless))
            .clock(clock)
            .exit(new Recording(exits))
            .source(new Silence())
            .open()) {
      patient.inject(patient.catalog().resolve("TERM").orElseThrow()).join();
    }
    assertThat(exits).containsExactly(143);
  }

  /** The shutdown used to begin by logging the signal, which never returned. */
  @Test
  void aLogThatHangsKeepsNothingFromEndingInGoodOrder() throws Exception {
    var never = new CountDownLatch(1);
    var exits = new CopyOnWriteArrayList<Integer>();
    try (Signals hanging =
        Signals.builder()
            .log(_ -> HandlersTest.await(never))
            .clock(new ManualClock())
            .exit(new Recording(exits))
            .source(new Silence())
            .open()) {
      hanging.handle("USR1", _ -> ran.add("handler"));
      hanging.onShutdown("cleanup", () -> ran.add("cleanup"));
      for (String name : List.of("USR1", "TERM")) {
        Signal signal = hanging.catalog().resolve(name).orElseThrow();
        hanging.inject(signal).get(30, TimeUnit.SECONDS);
      }
      assertThat(ran).containsExactly("handler", "cleanup");
      assertThat(exits).containsExactly(143);
    } finally {
      never.countDown();
    }
  }

  @Test
  void whatWasSaidIsWrittenInOrderBeforeTheExit() {
    var written = new CopyOnWriteArrayList<String>();
    var atExit = new CompletableFuture<List<String>>();
    try (Signals ending =
        Signals.builder()
            .log(record -> written.add(record.event()))
            .clock(new ManualClock())
            .exit(new Seeing(() -> atExit.complete(List.copyOf(written))))
            .source(new Silence())
            .open()) {
      ending.onShutdown("cleanup", () -> {});
      var _ = ending.inject(ending.catalog().resolve("TERM").orElseThrow());
      assertThat(atExit.join())
          .containsExactly(
              "signal.received", "signal.steps_started", "signal.steps_finished", "signal.exit");
    }
  }

  private record Seeing(Runnable look) implements ExitPort {
    @Override
    public void exit(int code) {
      look.run();
    }

    @Override
    public void halt(int code) {
      look.run();
    }
  }

  /** A double INT, raised by an admin surface say, used to end the process even then. */
  @Test
  void nothingEndsTheProcessOnceTheyAreClosed() {
    var exits = new CopyOnWriteArrayList<Integer>();
    Signals closed =
        Signals.builder().source(new Silence()).exit(new Recording(exits)).log(_ -> {}).open();
    closed.close();
    for (String name : List.of("TERM", "INT", "INT", "QUIT")) {
      closed.raise(Signals.resolve(name).orElseThrow(), "test", "", "");
    }
    assertThat(exits).isEmpty();
  }

  /** A second close used to wait its full limit for a log that accepts nothing more. */
  @Test
  void whatIsClosedTwiceIsClosedOnce() {
    var closed = new AtomicInteger();
    var clock =
        new SignalClock() {
          private final ManualClock manual = new ManualClock();

          @Override
          public long nanoTime() {
            return manual.nanoTime();
          }

          @Override
          public Timer after(Duration delay, Runnable action) {
            return manual.after(delay, action);
          }

          @Override
          public void close() {
            closed.incrementAndGet();
          }
        };
    Signals once = Signals.builder().source(new Silence()).clock(clock).log(_ -> {}).open();
    once.close();
    once.close();
    assertThat(closed).hasValue(1);
  }

  private record Recording(List<Integer> exits) implements ExitPort {
    @Override
    public void exit(int code) {
      exits.add(code);
    }

    @Override
    public void halt(int code) {
      exits.add(-code);
    }
  }

  /** A source that never delivers. */
  private static final class Silence implements SignalSource {
    @Override
    public String name() {
      return "silence";
    }

    @Override
    public Optional<String> subscribe(Signal signal, Receiver receiver) {
      return Optional.empty();
    }

    @Override
    public void close() {}
  }

  // r[verify signals.behavior.phases]
  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          TERM, graceful_shutdown
          INT,  graceful_shutdown_with_double_tap
          QUIT, immediate_exit
          PIPE, observe_only
          USR1, custom
          ALRM, custom
          USR2, custom
          """)
  void thePhasesAreThoseOfTheCatalog(String signal, String behavior) {
    signals.handle(signal, _ -> {});
    test.inject(signal);
    assertThat(phases())
        .isEqualTo(
            signals.catalog().behavior(behavior).orElseThrow().phases().stream()
                .map(BehaviorDefinition.Phase::name)
                .toList());
  }

  @Test
  void thePhasesOfAReloadLeaveOutWhatDoesNotHappen() {
    test.inject("HUP");
    assertThat(phases()).containsExactly("notify", "validate", "reject_invalid");

    signals.onReload(List::of);
    test.inject("HUP");
    assertThat(phases().subList(3, phases().size()))
        .containsExactly("notify", "validate", "graceful_shutdown", "exit");
  }

  @Test
  void acceptingStopsAndWorkIsDrainedBeforeTheFirstCleanup() {
    signals.onShutdown(ShutdownPhase.DRAIN, "drain", () -> ran.add("drain"));
    signals.onShutdown("cleanup", () -> ran.add("cleanup"));
    signals.onShutdown(ShutdownPhase.STOP_ACCEPTING, "stop", () -> ran.add("stop"));
    test.inject("TERM");
    assertThat(ran).containsExactly("stop", "drain", "cleanup");
  }

  // r[verify signals.observe.events]
  @Test
  void everyRecordAboutASignalHasItsCorrelationId() {
    signals.onShutdown("cleanup", () -> {});
    signals.onReload(() -> List.of("port is missing"));
    test.inject("HUP");
    test.inject("TERM");

    assertThat(test.events().stream().map(SignalsTesting.Event::name).distinct())
        .contains(
            "fulmen.signal.received",
            "fulmen.signal.steps_started",
            "fulmen.signal.steps_finished",
            "fulmen.signal.exit",
            "fulmen.signal.reload_rejected");
    for (String signal : List.of("SIGHUP", "SIGTERM")) {
      assertThat(
              test.records().stream()
                  .filter(it -> signal.equals(it.fields().get("signal")))
                  .map(it -> it.fields().getOrDefault("correlation_id", ""))
                  .distinct())
          .singleElement()
          .satisfies(id -> assertThat(id).isNotBlank());
    }
  }

  @Test
  void theFirstSignalDecidesTheExitCodeAndLaterOnesChangeNothing() {
    var proceed = new CountDownLatch(1);
    signals.onShutdown("slow", proceed::await);
    CompletableFuture<Void> end = test.injectAsync("TERM");
    test.inject("TERM");
    test.inject("QUIT");
    test.inject("INT");
    proceed.countDown();
    end.join();

    assertThat(test.exits()).containsExactly(143);
    assertThat(test.records())
        .filteredOn(it -> it.event().equals("signal.ignored"))
        .extracting(it -> it.fields().get("signal"))
        .containsExactly("SIGTERM", "SIGQUIT", "SIGINT");
  }

  @Test
  void quitRunsNoCleanupButItsHandlersForAMoment() {
    var never = new CountDownLatch(1);
    signals.onShutdown("cleanup", () -> ran.add("cleanup"));
    signals.handle("QUIT", _ -> ran.add("dump"));
    var wentOn = new CompletableFuture<Thread>();
    signals.handle("QUIT", _ -> never.await());
    signals.handle("QUIT", _ -> wentOn.complete(Thread.currentThread()));
    var _ = test.injectAsync("QUIT");
    await().until(() -> ran.contains("dump"));
    test.clock().advance(Duration.ofSeconds(1));
    assertThat(test.exits()).containsExactly(131);
    assertThat(ran).containsExactly("dump");

    never.countDown(); // the handler returns at last, and must not exit again
    await().until(() -> phases().contains("exit"));
    Thread handling = wentOn.join();
    await().until(() -> handling.getState().name().endsWith("WAITING")); // for other work
    assertThat(test.exits()).containsExactly(131);
  }

  // r[verify signals.exit.128n]
  @Test
  void theCodeIsThatOfThePlatform() {
    try (SignalsTesting mac = SignalsTesting.open(Platform.MACOS)) {
      mac.signals().handle("USR1", mac.signals()::shutdown);
      mac.inject("USR1");
      await().until(() -> !mac.exits().isEmpty());
      assertThat(mac.exits()).containsExactly(158);
    }
  }

  // r[verify signals.exit.probe]
  @Test
  void whereSuchCodesMeanNothingThatIsSaidOnce() {
    assertThat(List.of(Platform.LINUX, Platform.MACOS, Platform.FREEBSD))
        .allMatch(Platform::hasSignalExitCodes);
    assertThat(Platform.WINDOWS.hasSignalExitCodes()).isFalse();
    try (SignalsTesting windows = SignalsTesting.open(Platform.WINDOWS)) {
      windows.inject("TERM");
      windows.inject("TERM");
      assertThat(windows.records())
          .filteredOn(it -> it.event().equals("signal.exit_code_unusual"))
          .singleElement()
          .satisfies(
              it ->
                  assertThat(it.fields())
                      .containsEntry("signal", "SIGTERM")
                      .containsEntry("platform", "windows")
                      .containsEntry("exit_code", "143"));
    }
  }

  // r[verify signals.inject.no-exit]
  @Test
  void injectionNeverEndsTheProcess() throws Exception {
    signals.onReload(List::of);
    test.inject("TERM");
    test.inject("INT");
    var proceed = new CountDownLatch(1);
    signals.onShutdown("held", proceed::await);
    CompletableFuture<Void> first = test.injectAsync("INT");
    test.inject("INT");
    first.get(30, TimeUnit.SECONDS);
    proceed.countDown();
    test.inject("HUP");
    test.inject("QUIT");
    assertThat(test.exits()).containsExactly(143, 130, 130, 129, 131);
    assertThat(test.notices()).containsOnlyOnce("Force quitting...");
  }

  private List<String> phases() {
    return test.events().stream()
        .filter(it -> it.name().equals("fulmen.signal.phase"))
        .map(it -> it.tags().get("phase"))
        .toList();
  }

  /** Reading the records used to wait half a minute for a log that accepts nothing more. */
  @Test
  void whatWasLoggedCanBeReadAtOnceAfterTheClose() {
    test.inject("USR1");
    test.close();
    long begun = System.nanoTime();
    assertThat(test.records()).extracting(SignalRecord::event).contains("signal.received");
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(15));
  }
}
