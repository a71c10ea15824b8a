package dev.belfry.admin;

import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;
import io.helidon.common.socket.PeerInfo;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Optional;

/**
 * Logs and counts requests.
 *
 * @param log where each request is logged
 * @param meters where requests are counted
 */
// r[impl signals.http.log-all]
// r[impl signals.http.log-fields]
record RequestLog(SignalLog log, MeterRegistry meters) {
  /** The address of the connection, never one from a header, which anybody can forge. */
  static String source(PeerInfo client) {
    return client.address() instanceof InetSocketAddress address
        ? address.getAddress().getHostAddress()
        : "unix";
  }

  void record(
      PeerInfo client,
      Identity identity,
      String method,
      String path,
      Optional<Route> route,
      Answer answer) {
    String status = Integer.toString(answer.status());
    var fields = new LinkedHashMap<String, String>();
    fields.put("correlation_id", answer.correlationId());
    fields.put("source", source(client));
    fields.put("identity", identity.name());
    fields.put("signal", answer.signal().isEmpty() ? "none" : answer.signal());
    fields.put("method", method);
    fields.put("path", path);
    fields.put("status", status);
    boolean isHealth = route.filter(it -> !it.needsCredentials()).isPresent();
    Level level = isHealth ? Level.DEBUG : Level.INFO; // probes ask every second
    log.log(new SignalRecord(level, "admin.request", "admin request", fields));
    String name = route.map(Route::path).orElse("other");
    Counter.builder("belfry.admin.requests")
        .description("Requests to the admin surface, by route and status")
        .tags("route", name, "status", status)
        .register(meters)
        .increment();
  }

  /** Logs why a request is answered with 500, under the id of its record. */
  void failure(Route route, Throwable failure, String correlationId) {
    var fields = new LinkedHashMap<String, String>();
    fields.put("correlation_id", correlationId);
    fields.put("path", route.path());
    fields.put("error", SignalRecord.textOf(failure));
    log.log(new SignalRecord(Level.ERROR, "admin.failed", "an admin request failed", fields));
  }
}
