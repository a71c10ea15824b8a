package dev.belfry.signals.linux;

import static org.awaitility.Awaitility.await;

import dev.belfry.signals.Platform;
import dev.belfry.signals.SignalsTesting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** The same program inside the JVM of the test, with injected signals and a recorded exit. */
final class InjectedStage implements Stage {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final SignalsTesting test;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  /** How many lines were returned for each prefix. */
  private final Map<String, Integer> taken = new HashMap<>();

  InjectedStage(String scenario, List<String> arguments) throws Exception {
    test = SignalsTesting.open(SampleService.catalog(scenario), Platform.LINUX);
    new SampleService(test.signals(), false, lines::add).start(scenario, arguments);
  }

  @Override
  public void send(String signal) {
    var _ = test.injectAsync(signal);
  }

  @Override
  public void pass(Duration time) {
    test.clock().advance(time);
  }

  @Override
  public String line(String prefix) {
    int nth = taken.merge(prefix, 1, Integer::sum);
    await()
        .atMost(PATIENCE)
        .until(() -> all().stream().filter(line -> line.startsWith(prefix)).count() >= nth);
    return all().stream()
        .filter(line -> line.startsWith(prefix))
        .skip(nth - 1L)
        .findFirst()
        .orElseThrow()
        .substring(prefix.length());
  }

  @Override
  public int exitCode() {
    await().until(() -> !test.exits().isEmpty());
    return test.exits().getFirst();
  }

  /** What the program printed, with records and alerts in the form that a process prints them. */
  @Override
  public List<String> all() {
    var all = new ArrayList<>(lines);
    test.records().forEach(it -> all.add("log " + it.event() + " " + it.text()));
    all.addAll(test.notices());
    test.events().stream()
        .filter(SignalsTesting.Event::isAlert)
        .forEach(alert -> all.add("alert " + alert.name()));
    return all;
  }

  @Override
  public void close() {
    test.close();
  }
}
