package dev.belfry.cli.run;

import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.WorkerPool;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/** The metrics of a pool. */
final class PoolMetrics {
  private final MeterRegistry meters;
  private final WorkerPool pool;

  private PoolMetrics(MeterRegistry meters, WorkerPool pool) {
    this.meters = meters;
    this.pool = pool;
  }

  static void of(WorkerPool pool, MeterRegistry meters) {
    var metrics = new PoolMetrics(meters, pool);
    metrics.gauge(
        "belfry.workers",
        "Worker processes, whatever their state",
        status -> status.workers().size());
    metrics.gauge(
        "belfry.calls.in.flight",
        "Calls that workers have and have not answered",
        PoolMetrics::inFlight);
    metrics.gauge("belfry.calls.waiting", "Callers that wait for room", PoolStatus::waiting);
    metrics.gauge(
        "belfry.circuit.open",
        "Whether no workers are started because too many died at once, 1 or 0",
        status -> status.circuitOpen() ? 1 : 0);
    metrics.gauge(
        "belfry.slots.used",
        "Slots of shared memory that hold payloads on their way",
        PoolStatus::slotsUsed);
    metrics.gauge(
        "belfry.calls.latency.p99.micros",
        "What 99 of 100 calls of the last second took at most, in microseconds",
        status -> status.latency().p99Micros());
    metrics.counter(
        "belfry.calls.finished", "Calls that have got their answer", PoolStatus::finished);
    metrics.counter(
        "belfry.calls.failed", "Calls that have ended without an answer", PoolStatus::failed);
    metrics.counter(
        "belfry.calls.repeated",
        "How often a call was given to another worker because its worker had died",
        PoolStatus::repeated);
    metrics.counter(
        "belfry.calls.dead.letters",
        "Calls that were given up because each worker that had them died",
        PoolStatus::deadLetters);
    metrics.counter("belfry.worker.deaths", "Workers that have died", PoolStatus::deaths);
  }

  private static int inFlight(PoolStatus status) {
    return status.workers().stream().mapToInt(PoolStatus.WorkerStatus::inFlight).sum();
  }

  private void gauge(String name, String meaning, ToDoubleFunction<PoolStatus> value) {
    Gauge.builder(name, pool, it -> value.applyAsDouble(it.status()))
        .description(meaning)
        .register(meters);
  }

  private void counter(String name, String meaning, ToDoubleFunction<PoolStatus> value) {
    FunctionCounter.builder(name, pool, it -> value.applyAsDouble(it.status()))
        .description(meaning)
        .register(meters);
  }
}
