package dev.belfry.admin;

import dev.belfry.signals.Signal;
import dev.belfry.signals.Signals;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Answers the routes that all listeners share. */
final class Surface {
  static final int MAX_BODY_BYTES = 8 * 1024;

  private static final String OPENAPI = "openapi.json";
  private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  private final Signals signals;
  private final ClientBudgets signalBudgets;
  private final PrometheusMeterRegistry meters;
  private final BooleanSupplier ready;

  Surface(
      Signals signals,
      ClientBudgets signalBudgets,
      PrometheusMeterRegistry meters,
      BooleanSupplier ready) {
    this.signals = signals;
    this.signalBudgets = signalBudgets;
    this.meters = meters;
    this.ready = ready;
  }

  /** The body of a request, to be read only once its sender is authenticated. */
  interface Body {
    /** The {@code Content-Type} header. */
    Optional<String> contentType();

    /** Reads at most {@code limit} bytes of the body. */
    byte[] read(int limit) throws IOException;
  }

  Answer answer(Route route, Identity identity, Body body, String correlationId)
      throws IOException {
    return switch (route) {
      case SIGNAL -> signal(identity, body, correlationId);
      case OPENAPI -> Answer.text("application/json", BundledText.read(OPENAPI), correlationId);
      case METRICS -> Answer.text(PROMETHEUS_TEXT, meters.scrape(), correlationId);
      case LIVE -> health(true, correlationId);
      case READY -> health(ready.getAsBoolean(), correlationId);
      case PAGE, SESSION, LOGIN, LOGOUT, STREAM ->
          throw new IllegalArgumentException(route + " is of the console");
    };
  }

  private static Answer health(boolean yes, String correlationId) {
    return Answer.json(yes ? 200 : 503, Map.of("status", yes ? "up" : "down"), correlationId);
  }

  private Answer signal(Identity identity, Body body, String correlationId) throws IOException {
    long seconds = signalBudgets.trySpend(identity.client());
    if (seconds > 0) {
      return tooMany(seconds, correlationId);
    }
    if (!isJson(body.contentType())) {
      return Answer.error(
          415, "unsupported_media_type", "Send application/json in UTF-8", correlationId);
    }
    byte[] bytes = body.read(MAX_BODY_BYTES + 1);
    if (bytes.length > MAX_BODY_BYTES) {
      return Answer.error(
          413,
          "too_large",
          "The body must have at most " + MAX_BODY_BYTES + " bytes",
          correlationId);
    }
    try {
      return accepted(SignalRequest.parse(bytes), identity, correlationId);
    } catch (SignalRequest.Refused e) {
      return Answer.error(400, e.error(), e.text(), correlationId);
    }
  }

  // r[impl signals.http.202]
  // r[impl signals.http.202-body]
  // r[impl signals.http.correlation]
  // r[impl signals.http.async]
  // r[impl signals.http.windows]
  private Answer accepted(SignalRequest request, Identity identity, String generatedId) {
    String id = request.correlationId().orElse(generatedId);
    Optional<Signal> found = signals.catalog().byName("SIG" + request.signal());
    if (found.isEmpty()) {
      return Answer.error(
          400, "invalid_signal", "The catalog in use has no SIG" + request.signal(), id);
    }
    Signal signal = found.get();
    var answer = new LinkedHashMap<String, String>();
    answer.put("status", "accepted");
    answer.put("signal", request.signal());
    answer.put("correlation_id", id);
    answer.put("message", "Signal will be processed asynchronously");
    return Answer.json(202, answer, id)
        .signal(signal.name())
        .then(() -> signals.raise(signal, "http " + identity.name(), request.reason(), id));
  }

  // r[impl signals.http.rate-429]
  static Answer tooMany(long seconds, String correlationId) {
    return Answer.error(
            429, "rate_limited", "Too many requests; again in " + seconds + " s", correlationId)
        .header("Retry-After", Long.toString(seconds));
  }

  // r[impl signals.http.content-type]
  private static boolean isJson(Optional<String> contentType) {
    String[] parts = contentType.orElse("").toLowerCase(Locale.ROOT).split(";", -1);
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].strip().replace("\"", "");
      if (!parameter.isEmpty() && !parameter.equals("charset=utf-8")) {
        return false;
      }
    }
    return parts[0].strip().equals("application/json");
  }
}
