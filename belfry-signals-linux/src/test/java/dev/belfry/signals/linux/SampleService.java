package dev.belfry.signals.linux;

import dev.belfry.signals.Receivable;
import dev.belfry.signals.Signal;
import dev.belfry.signals.SignalTelemetry;
import dev.belfry.signals.Signals;
import dev.belfry.signals.SignalsBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** A program that uses the library, run in a JVM of its own or inside that of the test. */
final class SampleService {
  /** Longer than any test waits. */
  private static final long A_MINUTE_MILLIS = 60_000;

  private final Signals signals;
  private final Consumer<String> out;

  private final boolean isProcess;

  SampleService(Signals signals, boolean isProcess, Consumer<String> out) {
    this.signals = signals;
    this.isProcess = isProcess;
    this.out = out;
  }

  /** Runs as a process: says what happens in lines, and never ends by itself. */
  public static void main(String[] args) throws Exception {
    if (args[0].endsWith("-later")) {
      System.out.println("started");
      int _ = System.in.read();
    }
    SignalsBuilder builder =
        Signals.builder()
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

  void start(String scenario, List<String> arguments) {
    signals.onShutdown("first", () -> out.accept("cleanup first"));
    signals.onShutdown("second", () -> out.accept("cleanup second"));
    switch (scenario) {
      case "bare", "opens-later", "reloads-later" -> {}
      case "source" -> source();
      case "handlers" -> handlers();
      case "reload" -> signals.onReload(() -> problems(Path.of(arguments.getFirst())));
      case "hanging" -> hanging();
      case "hanging-everywhere" -> hangEverywhere();
      case "hanging-hook" -> hangInHook();
      case "late" -> late();
      case "exits" -> signals.handle("TERM", signals::shutdown);
      case "cancel" -> cancel();
      default -> throw new IllegalArgumentException(scenario);
    }
  }

  /** Which signals can come, and why the others cannot. */
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

  /** A configuration is good if it says so. */
  private static List<String> problems(Path file) throws IOException {
    String text = Files.readString(file).strip();
    return text.equals("good") ? List.of() : List.of("it says " + text);
  }

  private void hanging() {
    signals.onShutdown(
        "hanging",
        () -> {
          out.accept("hanging");
          Thread.sleep(A_MINUTE_MILLIS);
        });
  }

  /** Everything that can hang: a handler, a cleanup behind it, a hook of the JVM. */
  private void hangEverywhere() {
    signals.handle("INT", _ -> Thread.sleep(A_MINUTE_MILLIS));
    signals.onShutdown("hanging", () -> Thread.sleep(A_MINUTE_MILLIS));
    hangInHook();
  }

  private void hangInHook() {
    if (isProcess) { // else it would be the test that never ends
      Runtime.getRuntime().addShutdownHook(new Thread(SampleService::sleep));
    }
  }

  private static void sleep() {
    try {
      Thread.sleep(A_MINUTE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A handler that is registered only after the first signal has come. */
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
