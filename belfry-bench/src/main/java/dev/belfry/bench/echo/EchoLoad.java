package dev.belfry.bench.echo;

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
 * Puts a server under load from a separate process.
 *
 * @param program the load generator
 * @param messageBytes the length of a message
 * @param pinning where the load generator runs
 */
record EchoLoad(Path program, int messageBytes, Pinning pinning) {
  static final String RATE = "messagesPerSecond";
  static final String SERVER_CPU = "serverCpuNanosPerMessage";
  static final String LOAD_CPU = "loadCpuNanosPerMessage";

  private static final Duration GRACE = Duration.ofSeconds(15);

  /** Runs the load and returns the figures, without those of the settling time. */
  Map<String, Double> run(EchoServer server, int connections, Duration settle, Duration measured)
      throws IOException {
    List<String> command =
        List.of(
            program.toString(),
            String.valueOf(server.port()),
            String.valueOf(connections),
            String.valueOf(messageBytes),
            String.valueOf(settle.toMillis()),
            String.valueOf(measured.toMillis()),
            String.valueOf(server.process().pid()));
    String line;
    try (var load = ContenderProcess.start("load on " + server.label(), command, pinning)) {
      line = load.readLine(settle.plus(measured).plus(GRACE));
    }
    double[] figures =
        Pattern.compile(" ").splitAsStream(line).mapToDouble(Double::parseDouble).toArray();
    double messages = figures[0];
    double nanos = figures[1];
    var metrics = new LinkedHashMap<String, Double>();
    metrics.put(RATE, messages / nanos * 1e9);
    metrics.put(SERVER_CPU, figures[2] / Math.max(1, messages));
    metrics.put(LOAD_CPU, figures[3] / Math.max(1, messages));
    return metrics;
  }
}
