package dev.belfry.bench.signal;

import dev.belfry.bench.harness.ContenderProcess;
import dev.belfry.bench.harness.Pinning;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Sends signals to a receiver from a separate process.
 *
 * @param program the sender
 * @param mailbox where receivers record the time
 * @param pinning where the sender runs
 */
record SignalLoad(Path program, Path mailbox, Pinning pinning) {
  static final String MEDIAN = "latencyP50Nanos";
  static final String P99 = "latencyP99Nanos";
  static final String LOST = "lost";
  static final String DISORDER = "outOfOrder";
  static final String RATE = "signalsPerSecond";

  private static final Duration GRACE = Duration.ofSeconds(30);

  /** The pause between signals or bursts, long enough for the receiver to fall asleep. */
  private static final Duration PAUSE = Duration.ofNanos(400_000);

  /** Sends for a time; returns the figures. */
  Map<String, Double> run(
      String name, ContenderProcess receiver, SignalWorkload workload, Duration measured)
      throws IOException {
    return send(name, receiver, workload, workload.count(measured), PAUSE, measured.plus(GRACE));
  }

  /** Sends without a pause, so that the handling code gets compiled. */
  void warmUp(String name, ContenderProcess receiver, SignalWorkload workload, int count)
      throws IOException {
    send(name, receiver, workload, count, Duration.ZERO, GRACE);
  }

  private Map<String, Double> send(
      String name,
      ContenderProcess receiver,
      SignalWorkload workload,
      long count,
      Duration pause,
      Duration limit)
      throws IOException {
    List<String> command =
        List.of(
            program.toString(),
            mailbox.toString(),
            String.valueOf(receiver.pid()),
            workload.label,
            String.valueOf(count),
            String.valueOf(pause.toNanos()));
    String line;
    try (var load = ContenderProcess.start("signals to " + name, command, pinning)) {
      line = load.readLine(limit);
    }
    double[] figures =
        Pattern.compile(" ").splitAsStream(line).mapToDouble(Double::parseDouble).toArray();
    var metrics = new LinkedHashMap<String, Double>();
    metrics.put(MEDIAN, figures[0]);
    metrics.put(P99, figures[1]);
    metrics.put(LOST, figures[2]);
    metrics.put(DISORDER, figures[3]);
    if (workload != SignalWorkload.PACED) {
      metrics.put(RATE, figures[4]);
    }
    return metrics;
  }
}
