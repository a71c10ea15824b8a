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
 * Sends signals to a receiver from a process of its own.
 *
 * @param program the sender
 * @param mailbox where the receivers note the time
 * @param pinning where the sender runs
 */
record SignalLoad(Path program, Path mailbox, Pinning pinning) {
  static final String MEDIAN = "latencyP50Nanos";
  static final String P99 = "latencyP99Nanos";
  static final String LOST = "lost";
  static final String DISORDER = "outOfOrder";
  static final String RATE = "signalsPerSecond";

  private static final Duration GRACE = Duration.ofSeconds(30);

  /** Sends once; what was measured. */
  Map<String, Double> run(
      String name, ContenderProcess receiver, SignalWorkload workload, Duration measured)
      throws IOException {
    List<String> command =
        List.of(
            program.toString(),
            mailbox.toString(),
            String.valueOf(receiver.pid()),
            workload.label,
            String.valueOf(workload.count(measured)));
    String line;
    try (var load = ContenderProcess.start("signals to " + name, command, pinning)) {
      line = load.readLine(measured.plus(GRACE));
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
