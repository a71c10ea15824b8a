package dev.belfry.cli.run;

import dev.belfry.admin.HostEvent;
import dev.belfry.admin.HostEvents;
import dev.belfry.admin.HostState;
import dev.belfry.admin.HostView;
import dev.belfry.admin.WorkerRow;
import dev.belfry.signals.Registration;
import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The console's view of a pool. */
final class PoolView implements HostView {
  private final String name;
  private final Instant startedAt;
  private final boolean reloads;
  private final Supplier<PoolStatus> pool;
  private final HostEvents events;

  PoolView(
      String name,
      Instant startedAt,
      boolean reloads,
      Supplier<PoolStatus> pool,
      HostEvents events) {
    this.name = name;
    this.startedAt = startedAt;
    this.reloads = reloads;
    this.pool = pool;
    this.events = events;
  }

  @Override
  public HostState state() {
    PoolStatus status = pool.get();
    return new HostState(
        name,
        startedAt,
        status.workers().stream().map(PoolView::row).toList(),
        status.callsPerSecond(),
        status.finished(),
        status.failed(),
        status.latency().p50Micros(),
        status.latency().p99Micros(),
        status.workers().stream().mapToInt(WorkerStatus::ringDepth).sum(),
        status.workers().stream().mapToInt(WorkerStatus::ringCapacity).sum(),
        status.slotsUsed(),
        status.slots(),
        status.deaths(),
        status.waiting(),
        status.circuitOpen());
  }

  private static WorkerRow row(WorkerStatus worker) {
    return new WorkerRow(
        worker.name(),
        worker.pid(),
        worker.state(),
        worker.inFlight(),
        worker.finished(),
        worker.latency().p50Micros(),
        worker.latency().p99Micros(),
        worker.deaths(),
        worker.ageMillis());
  }

  @Override
  public Map<String, String> meanings() {
    var meanings = new HashMap<String, String>();
    meanings.put("USR1", "Write the state to the log");
    meanings.put("USR2", "Start workers again after too many have died in a row");
    if (!reloads) {
      meanings.put("HUP", "End in good order, as there is no configuration to reload");
    }
    return meanings;
  }

  @Override
  public Registration onEvent(Consumer<HostEvent> listener) {
    return events.onEvent(listener);
  }
}
