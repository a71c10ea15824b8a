package dev.belfry.bench.timers;

import dev.belfry.bench.harness.ContenderProcess;
import dev.belfry.bench.harness.Summary;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Runs workloads in a contender's process.
 *
 * @param measured how long one measurement takes
 */
record TimerQuestions(Duration measured) {
  static final String RATE = "operationsPerSecond";
  static final String LATE_MEDIAN = "latenessP50Nanos";
  static final String LATE_P99 = "latenessP99Nanos";
  static final String LATE_MAX = "latenessMaxNanos";
  static final String EARLY = "early";

  static final long LATENESS_DELAY_NANOS = 1_000_000;

  /** About the shortest wait possible. */
  private static final long WARM_UP_WAIT_NANOS = 100_000;

  private static final Duration GRACE = Duration.ofSeconds(60);

  /** Runs a workload once; returns the figures. */
  Map<String, Double> ask(ContenderProcess process, Workload workload) throws IOException {
    Duration limit = measured.plus(GRACE);
    if (workload == Workload.LATENESS) {
      long count = Math.max(1, measured.toNanos() / LATENESS_DELAY_NANOS);
      return lateness(process.ask(latenessQuestion(count, LATENESS_DELAY_NANOS), limit));
    }
    String rate = process.ask(workload.label + " " + measured.toNanos(), limit);
    return Map.of(RATE, Double.valueOf(rate));
  }

  /** Runs a workload until its code is compiled, with shorter waits, since more of them fit. */
  void warmUp(ContenderProcess process, Workload workload) throws IOException {
    if (workload == Workload.LATENESS) {
      long count = Math.max(1, measured.toNanos() / WARM_UP_WAIT_NANOS);
      process.ask(latenessQuestion(count, 1), measured.plus(GRACE));
    } else {
      ask(process, workload);
    }
  }

  private static String latenessQuestion(long count, long delayNanos) {
    return "lateness %d %d".formatted(count, delayNanos);
  }

  private static Map<String, Double> lateness(String answer) {
    long[] late = Arrays.stream(answer.split(" ")).mapToLong(Long::parseLong).toArray();
    var metrics = new LinkedHashMap<String, Double>();
    metrics.put(LATE_MEDIAN, (double) Summary.percentile(late, 50));
    metrics.put(LATE_P99, (double) Summary.percentile(late, 99));
    metrics.put(LATE_MAX, (double) Summary.percentile(late, 100));
    metrics.put(EARLY, (double) Arrays.stream(late).filter(nanos -> nanos < 0).count());
    return metrics;
  }
}
