package dev.belfry.admin;

import dev.belfry.signals.Registration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A host for the console to show: its load goes up and down, and its workers can be killed. */
final class LivelyHost implements HostView {
  static final String NAME = "belltower";

  final HostEvents events = new HostEvents();
  private final Instant startedAt = Instant.now().minus(Duration.ofHours(3));
  private final List<Worker> workers = new ArrayList<>();
  private int looks;
  private int deaths;
  private int slowness = 1;
  private boolean circuitOpen;

  private static final class Worker {
    final String name;
    int pid;
    String state = "ready";
    long finished;
    int deaths;
    Instant since = Instant.now().minus(Duration.ofMinutes(42));

    Worker(String name, int pid) {
      this.name = name;
      this.pid = pid;
    }
  }

  LivelyHost() {
    for (int i = 1; i <= 4; i++) {
      workers.add(new Worker("render-" + i, 41_200 + 7 * i));
    }
    workers.getLast().state = "spare";
  }

  /** Makes rows and readings as long as they can be. */
  synchronized void fill() {
    slowness = 1500;
    var longest = new Worker("resize-pictures-in-a-row-1042", 4_194_304);
    longest.state = "retiring";
    longest.finished = 123_456_789;
    workers.add(longest);
  }

  /** A worker dies, and another takes its place. */
  synchronized void kill(int place) {
    Worker worker = workers.get(place);
    events.add("death", worker.name + " (" + worker.pid + ") was killed by SIGKILL");
    worker.pid += 1_000;
    worker.deaths++;
    worker.finished = 0;
    worker.since = Instant.now();
    deaths++;
    events.add("ready", worker.name + " (" + worker.pid + ") is ready after 38 ms");
  }

  synchronized void openCircuit() {
    circuitOpen = true;
  }

  synchronized void state(int place, String state) {
    workers.get(place).state = state;
  }

  @Override
  public synchronized HostState state() {
    looks++;
    double wave = 1 + 0.45 * Math.sin(looks / 19.0) + 0.2 * Math.sin(looks / 3.1);
    double callsPerSecond = 18_000 * wave;
    long p50 = Math.round(24 * wave * slowness);
    long p99 = Math.round((160 * wave + (looks % 41 < 3 ? 900 : 0)) * slowness);
    var rows = new ArrayList<WorkerRow>();
    long finished = 3_812_411;
    for (Worker worker : workers) {
      boolean isWorking = worker.state.equals("ready");
      worker.finished += isWorking ? Math.round(callsPerSecond / 3) : 0;
      finished += worker.finished;
      rows.add(
          new WorkerRow(
              worker.name,
              worker.pid,
              worker.state,
              isWorking ? (int) (3 * wave) : 0,
              worker.finished,
              isWorking ? p50 : 0,
              isWorking ? p99 : 0,
              worker.deaths,
              Duration.between(worker.since, Instant.now()).toMillis()));
    }
    int depth = (int) (9 * wave * wave);
    int used = (int) (140 * wave);
    return new HostState(
        NAME,
        startedAt,
        rows,
        callsPerSecond,
        finished,
        3,
        p50,
        p99,
        depth,
        4096,
        used,
        1024,
        deaths,
        0,
        circuitOpen);
  }

  @Override
  public Map<String, String> meanings() {
    return Map.of("USR2", "Starts workers again", "HUP", "Ends it for good");
  }

  @Override
  public Registration onEvent(Consumer<HostEvent> listener) {
    return events.onEvent(listener);
  }
}
