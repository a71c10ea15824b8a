package dev.belfry.signals.linux;

import dev.belfry.signals.Receivable;
import dev.belfry.signals.Signal;
import dev.belfry.signals.SignalCatalog;
import dev.belfry.signals.SignalTelemetry;
import dev.belfry.signals.Signals;
import dev.belfry.signals.SignalsBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** A program that uses the library, in its own JVM or in that of the test. */
final class SampleService {
  /** The double-tap window in the scenario "slow". */
  static final Duration SHORT_WINDOW = Duration.ofSeconds(1);

  /** The time limit of a shutdown in the scenario "hasty". */
  static final Duration SHORT_LIMIT = Duration.ofSeconds(1);

  private static final String WINDOW = "double_tap_window_seconds: ";
  private static final String LIMIT = "timeout_seconds: ";

  private final Signals signals;
  private final Consumer<String> out;

  private final boolean isProcess;

  SampleService(Signals signals, boolean isProcess, Consumer<String> out) {
    this.signals = signals;
    this.isProcess = isProcess;
    this.out = out;
  }

  /** Runs as a process: prints what happens, one line each, and never ends by itself. */
  public static void main(String[] args) throws Exception {
    if (args[0].endsWith("-later")) {
      System.out.println("started");
      int _ = System.in.read();
    }
    SignalsBuilder builder =
        Signals.builder()
            .catalog(catalog(args[0]))
            .log(record -> System.out.println("log " + record.event() + " " + record.text()))
            .telemetry(new PrintedAlerts());
    if (args[0].equals("reloads-later")) {
      builder.onReload(List::of);
    }
    Signals signals = builder.open();
    new SampleService(signals, true, System.out::println)
        .start(args[0], List.of(args).subList(1, args.length));
    System.out.println("ready");
    new CountDownLatch(1).await();
  }

  /**
   * The catalog of a scenario. Its times are longer than any test unless the scenario is about
   * them, so that only the intended cause ends the program: a second press is within the window
   * however busy the machine, and a hanging shutdown is not cut off.
   */
  static SignalCatalog catalog(String scenario) throws Exception {
    if (scenario.equals("hasty")) {
      return SignalCatalog.bundled().withTimeLimit(SHORT_LIMIT);
    }
    String text;
    try (InputStream bundled = SignalCatalog.class.getResourceAsStream("signals.yaml")) {
      text = new String(bundled.readAllBytes(), StandardCharsets.UTF_8);
    }
    String window = scenario.equals("slow") ? WINDOW + SHORT_WINDOW.toSeconds() : WINDOW + "300";
    return SignalCatalog.parse(
        text.replace(WINDOW + "2", window).replace(LIMIT + "5", LIMIT + "600"), "patient");
  }

  void start(String scenario, List<String> arguments) {
    signals.onShutdown("first", () -> out.accept("cleanup first"));
    signals.onShutdown("second", () -> out.accept("cleanup second"));
    switch (scenario) {
      case "bare", "opens-later", "reloads-later" -> {}
      case "source" -> source();
      case "handlers" -> handlers();
      case "reload" -> reload(Path.of(arguments.getFirst()));
      case "hanging", "hasty" -> hang("hanging");
      case "slow" -> slow();
      case "hanging-everywhere" -> hangEverywhere();
      case "hanging-behind" -> hangBehind();
      case "hanging-hook" -> hangInHook();
      case "late" -> late();
      case "exits" -> signals.handle("TERM", signals::shutdown);
      case "cancel" -> cancel();
      default -> throw new IllegalArgumentException(scenario);
    }
  }

  /** Prints which signals can be received, and why the others cannot. */
  private void source() {
    for (Signal signal : signals.catalog().signals()) {
      Receivable receivable = signals.receivable(signal);
      out.accept("receivable " + signal + " " + receivable.obstacle().orElse("yes"));
    }
  }

  private void handlers() {
    for (Signal signal : signals.catalog().signals()) {
      if (signal.isCatchable()) {
        signals
            .handle(signal, it -> out.accept("handler " + it.name()))
            .inactiveReason()
            .ifPresent(reason -> out.accept("inactive " + signal + ": " + reason));
      }
    }
    signals.onReload(List::of);
  }

  private void reload(Path file) {
    signals.onReload(() -> problems(file));
    signals.onShutdown(
        "count", () -> out.accept("descendants " + ProcessHandle.current().descendants().count()));
  }

  /** A configuration is valid if its text is "good". */
  private static List<String> problems(Path file) throws IOException {
    String text = Files.readString(file).strip();
    return text.equals("good") ? List.of() : List.of("it says " + text);
  }

  private void hang(String line) {
    signals.onShutdown(
        "hanging",
        () -> {
          out.accept(line);
          hang();
        });
  }

  /** A handler, a cleanup and a shutdown hook of the JVM all hang. */
  private void hangEverywhere() {
    signals.handle(
        "INT",
        _ -> {
          out.accept("handler hangs");
          hang();
        });
    hangBehind();
  }

  private void hangBehind() {
    hang("cleanup hangs");
    hangInHook();
  }

  private void hangInHook() {
    if (isProcess) { // in the test's own JVM, the test would never end
      Runtime.getRuntime().addShutdownHook(new Thread(SampleService::hangQuietly));
    }
  }

  private static void hangQuietly() {
    try {
      hang();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void hang() throws InterruptedException {
    new CountDownLatch(1).await();
  }

  /** A cleanup that lasts until USR1 arrives. */
  private void slow() {
    CompletableFuture<Signal> goOn = signals.next("USR1");
    signals.onShutdown(
        "slow",
        () -> {
          out.accept("slow");
          goOn.get();
        });
  }

  /** A handler that is registered only after the first signal has arrived. */
  private void late() {
    var first = new CompletableFuture<Signal>();
    signals.handle("USR1", first::complete);
    var _ =
        first.thenAccept(
            _ -> {
              signals.handle("USR2", it -> out.accept("late handler " + it.name()));
              out.accept("registered");
            });
  }

  private void cancel() {
    var work = new CompletableFuture<Void>();
    signals.cancel(List.of("USR1"), () -> work.cancel(true));
    var _ = work.whenComplete((_, _) -> out.accept("cancelled " + work.isCancelled()));
    Thread sleeper =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    out.accept("interrupted");
                  }
                });
    signals.interrupt(sleeper, "USR2");
  }

  private static final class PrintedAlerts implements SignalTelemetry {
    @Override
    public void event(String name, Map<String, String> tags) {}

    @Override
    public void alert(String name, Map<String, String> tags) {
      System.out.println("alert " + name);
    }
  }
}
