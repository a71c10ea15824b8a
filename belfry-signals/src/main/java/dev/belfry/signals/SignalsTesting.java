package dev.belfry.signals;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * {@link Signals} for tests: signals are injected, time stands still, and exits are only recorded.
 * Everything else is the code that a real signal runs.
 *
 * {@snippet :
 * try (SignalsTesting test = SignalsTesting.open()) {
 *   program.start(test.signals());
 *   test.inject("TERM");
 *   assertThat(test.exits()).containsExactly(143);
 * }
 * }
 */
// r[impl signals.lib.test-helpers]
// r[impl signals.inject.api]
// r[impl signals.inject.no-exit]
public final class SignalsTesting implements AutoCloseable {
  /** How long to wait for pending log records; generous, for busy machines. */
  private static final Duration WRITTEN = Duration.ofSeconds(30);

  private final ManualClock clock = new ManualClock();
  private final List<Integer> exits = new CopyOnWriteArrayList<>();
  private final List<SignalRecord> records = new CopyOnWriteArrayList<>();
  private final List<String> notices = new CopyOnWriteArrayList<>();
  private final List<Event> events = new CopyOnWriteArrayList<>();
  private final Set<String> subscriptions = new ConcurrentSkipListSet<>();
  private final Signals signals;

  /**
   * A recorded event or alert.
   *
   * @param name its name
   * @param tags its tags
   * @param isAlert whether it is an alert
   */
  public record Event(String name, Map<String, String> tags, boolean isAlert) {}

  private SignalsTesting(SignalCatalog catalog, Platform platform) {
    signals =
        Signals.builder()
            .catalog(catalog)
            .platform(platform)
            .clock(clock)
            .exit(new RecordedExit())
            .log(new RecordedLog())
            .telemetry(new RecordedTelemetry())
            .source(new Injection())
            .open();
  }

  /** Opens with the bundled catalog, as on Linux. */
  public static SignalsTesting open() {
    return open(Platform.LINUX);
  }

  /** Opens with the bundled catalog, as on the given platform. */
  public static SignalsTesting open(Platform platform) {
    return open(SignalCatalog.bundled(), platform);
  }

  /** Opens with the given catalog, as on the given platform. */
  // r[impl signals.test.bsd]
  // r[impl signals.test.mocks]
  // r[impl signals.test.windows-map]
  // r[impl signals.test.windows-smoke]
  public static SignalsTesting open(SignalCatalog catalog, Platform platform) {
    return new SignalsTesting(catalog, platform);
  }

  /** The signals to hand to the program under test. */
  public Signals signals() {
    return signals;
  }

  /**
   * Delivers a signal as the operating system would, and waits until everything it triggers is
   * done. Does nothing if the platform cannot deliver the signal.
   */
  public void inject(String signal) {
    injectAsync(signal).join();
  }

  /**
   * Same as {@link #inject} without waiting, for handlers and cleanups that hang. The future
   * completes when everything is done.
   */
  public CompletableFuture<Void> injectAsync(String signal) {
    return signals.inject(signals.catalog().resolve(signal).orElseThrow());
  }

  /**
   * Delivers the signal that a Windows console event maps to, and waits as {@link #inject} does.
   */
  public void injectEvent(String consoleEvent) {
    signals.inject(signals.catalog().byWindowsEvent(consoleEvent).orElseThrow()).join();
  }

  /** The clock, which only the test advances. */
  public ManualClock clock() {
    return clock;
  }

  /** The exit codes with which the process would have exited, in order. */
  public List<Integer> exits() {
    return List.copyOf(exits);
  }

  /** The log records so far. */
  public List<SignalRecord> records() {
    signals.flushLog(WRITTEN);
    return List.copyOf(records);
  }

  /** The lines shown to the user at the terminal. */
  public List<String> notices() {
    return List.copyOf(notices);
  }

  /** The telemetry events so far, alerts included. */
  public List<Event> events() {
    return List.copyOf(events);
  }

  /** The names of the signals subscribed to. */
  public Set<String> subscriptions() {
    return Set.copyOf(subscriptions);
  }

  /** Closes the signals, abandoning a shutdown that is still under way because something hangs. */
  @Override
  public void close() {
    signals.abandon();
  }

  private final class RecordedExit implements ExitPort {
    @Override
    public void exit(int code) {
      exits.add(code);
    }

    @Override
    public void halt(int code) {
      exits.add(code);
    }
  }

  private final class RecordedLog implements SignalLog {
    @Override
    public void log(SignalRecord record) {
      records.add(record);
    }

    @Override
    public void notice(String line) {
      notices.add(line);
    }
  }

  private final class RecordedTelemetry implements SignalTelemetry {
    @Override
    public void event(String name, Map<String, String> tags) {
      events.add(new Event(name, Map.copyOf(tags), false));
    }

    @Override
    public void alert(String name, Map<String, String> tags) {
      events.add(new Event(name, Map.copyOf(tags), true));
    }
  }

  /** Accepts every subscription and never delivers anything by itself. */
  private final class Injection implements SignalSource {
    @Override
    public String name() {
      return "injection";
    }

    @Override
    public Optional<String> subscribe(Signal signal, Receiver receiver) {
      subscriptions.add(signal.name());
      return Optional.empty();
    }

    @Override
    public void close() {}
  }
}
