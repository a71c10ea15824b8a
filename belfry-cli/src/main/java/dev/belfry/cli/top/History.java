package dev.belfry.cli.top;

import dev.belfry.cli.counters.CountersSample;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;

/** The samples seen so far: the latest, some numbers from those before, and what has changed. */
final class History {
  /** As wide as any terminal. */
  private static final int MAX = 1000;

  private final List<Double> rates = new ArrayList<>();
  private final List<Double> latencies = new ArrayList<>();
  private final Map<String, Double> workerRates = new HashMap<>();
  private CountersSample latest;

  History(CountersSample first) {
    this.latest = first;
    keep(first);
  }

  private void keep(CountersSample sample) {
    rates.add(sample.pool().callsPerSecond());
    latencies.add((double) sample.pool().latency().p99Nanos());
    if (rates.size() > MAX) {
      rates.removeFirst();
      latencies.removeFirst();
    }
    latest = sample;
  }

  CountersSample latest() {
    return latest;
  }

  /** Calls per second, the oldest first. */
  List<Double> rates() {
    return rates;
  }

  /** The p99 of latencies in nanoseconds, the oldest first. */
  List<Double> latencies() {
    return latencies;
  }

  /** Takes a sample, if it is a new one. */
  void add(CountersSample sample) {
    if (sample.number() == latest.number()) {
      return;
    }
    double seconds =
        (sample.sampledAtNanos() - latest.sampledAtNanos()) / (double) TimeUnit.SECONDS.toNanos(1);
    Map<String, Long> before = new HashMap<>();
    latest.pool().workers().forEach(it -> before.put(key(it), it.finished()));
    workerRates.clear();
    for (WorkerStatus worker : sample.pool().workers()) {
      long finished = worker.finished() - before.getOrDefault(key(worker), 0L);
      workerRates.put(key(worker), finished / Math.max(seconds, 1e-3));
    }
    keep(sample);
  }

  /** How many calls a worker has answered per second, once there are two samples. */
  OptionalDouble rateOf(WorkerStatus worker) {
    Double rate = workerRates.get(key(worker));
    return rate == null ? OptionalDouble.empty() : OptionalDouble.of(rate);
  }

  private static String key(WorkerStatus worker) {
    return worker.name() + " " + worker.pid();
  }
}
