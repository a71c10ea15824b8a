package dev.belfry.cli.run;

import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.WorkerPool;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/** Shows a pool in the metrics. */
final class PoolMetrics {
  private final MeterRegistry meters;
  private final WorkerPool pool;

  private PoolMetrics(MeterRegistry meters, WorkerPool pool) {
    this.meters = meters;
    this.pool = pool;
  }

  static void of(WorkerPool pool, MeterRegistry meters) {
    var metrics = new PoolMetrics(meters, pool);
    metrics.gauge("belfry.workers", status -> status.workers().size());
    metrics.gauge("belfry.calls.in.flight", PoolMetrics::inFlight);
    metrics.gauge("belfry.calls.waiting", PoolStatus::waiting);
    metrics.gauge("belfry.circuit.open", status -> status.circuitOpen() ? 1 : 0);
    metrics.gauge("belfry.slots.used", PoolStatus::slotsUsed);
    metrics.gauge("belfry.calls.latency.p99.micros", status -> status.latency().p99Micros());
    metrics.counter("belfry.calls.finished", PoolStatus::finished);
    metrics.counter("belfry.calls.failed", PoolStatus::failed);
    metrics.counter("belfry.calls.repeated", PoolStatus::repeated);
    metrics.counter("belfry.calls.dead.letters", PoolStatus::deadLetters);
    metrics.counter("belfry.worker.deaths", PoolStatus::deaths);
  }

  private static int inFlight(PoolStatus status) {
    return status.workers().stream().mapToInt(PoolStatus.WorkerStatus::inFlight).sum();
  }

  private void gauge(String name, ToDoubleFunction<PoolStatus> value) {
    Gauge.builder(name, pool, it -> value.applyAsDouble(it.status())).register(meters);
  }

  private void counter(String name, ToDoubleFunction<PoolStatus> value) {
    FunctionCounter.builder(name, pool, it -> value.applyAsDouble(it.status())).register(meters);
  }
}
