package dev.belfry.cli.counters;

import dev.belfry.workers.Latency;
import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.util.List;
import java.util.stream.IntStream;

/** Made-up statuses of pools. */
final class Statuses {
  private Statuses() {}

  /** Returns a status in which all numbers differ. */
  static PoolStatus different() {
    List<WorkerStatus> workers =
        List.of(
            new WorkerStatus("sample-1", 101, "ready", 3, 4, 5, new Latency(6, 7, 8), 9, 10, 11),
            new WorkerStatus(
                "a name of a worker that is longé", 102, "spare", 0, 0, 1, Latency.NONE, 0, 10, 2));
    return new PoolStatus(
        workers, 21, 22, 23, true, 24, 25, 26, 27, 28.5, new Latency(29, 30, 31), 32, 33);
  }

  /** Returns a status in which all numbers are the same, with the most workers possible. */
  static PoolStatus same(int n) {
    List<WorkerStatus> workers =
        IntStream.range(0, CountersLayout.MAX_WORKERS)
            .mapToObj(
                _ -> new WorkerStatus("" + n, n, "" + n, n, n, n, new Latency(n, n, n), n, n, n))
            .toList();
    return new PoolStatus(workers, n, n, n, n % 2 == 1, n, n, n, n, n, new Latency(n, n, n), n, n);
  }

  /** Returns a status of which only a part can be written. */
  @SuppressWarnings("NullAway") // no name, on purpose
  static PoolStatus unwritable() {
    var latency = new Latency(0, 0, 0);
    var nameless = new WorkerStatus(null, 0, "ready", 0, 0, 0, latency, 0, 0, 0);
    return new PoolStatus(List.of(nameless), 0, 0, 0, false, 0, 0, 0, 0, 0, latency, 0, 0);
  }
}
