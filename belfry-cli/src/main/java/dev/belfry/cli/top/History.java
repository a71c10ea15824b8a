package dev.belfry.cli.top;

import dev.belfry.cli.counters.CountersSample;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;

/** The latest sample, figures from earlier ones, and each worker's rate between the last two. */
final class History {
  /** More than the columns of any terminal. */
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

  /** Returns the calls per second of each sample, oldest first. */
  List<Double> rates() {
    return rates;
  }

  /** Returns the 99th percentile of the latency of each sample in nanoseconds, oldest first. */
  List<Double> latencies() {
    return latencies;
  }

  /** Adds a sample, unless it is the latest already. */
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

  /** Returns how many calls a worker answers per second; empty until there are two samples. */
  OptionalDouble rateOf(WorkerStatus worker) {
    Double rate = workerRates.get(key(worker));
    return rate == null ? OptionalDouble.empty() : OptionalDouble.of(rate);
  }

  private static String key(WorkerStatus worker) {
    return worker.name() + " " + worker.pid();
  }
}
