package dev.belfry.admin;

import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The body of {@code POST /admin/signal}.
 *
 * @param signal one of {@link #SIGNALS}
 * @param reason why it is raised; may be empty
 * @param correlationId the client's id for the request, if it sent one
 */
record SignalRequest(String signal, String reason, Optional<String> correlationId) {
  /** The signals that can be raised over HTTP, spelled exactly like this, without SIG. */
  // r[impl signals.http.signal-set]
  static final List<String> SIGNALS = List.of("HUP", "TERM", "INT", "QUIT", "USR1", "USR2");

  static final int MAX_REASON = 1024;
  static final int MAX_CORRELATION_ID = 128;

  private static final int MAX_DEPTH = 8;
  private static final int MAX_SHOWN = 40;

  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** Thrown for a body that is not valid. */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    private final String error;

    private Refused(String error, String message) {
      super(message);
      this.error = error;
    }

    /** What is wrong, as an error code. */
    String error() {
      return error;
    }

    /** What is wrong, for people. */
    String text() {
      return String.valueOf(getMessage());
    }
  }

  /** Reads a body; unknown fields are ignored. */
  // r[impl signals.http.optional]
  // r[impl signals.http.400]
  static SignalRequest parse(byte[] body) throws Refused {
    JsonNode json;
    try {
      json = JSON.readTree(body);
    } catch (JacksonException e) {
      throw invalid("The body is not JSON, or has a field twice or too deep a nesting");
    }
    if (json == null || !json.isObject()) {
      throw invalid("The body must be a JSON object");
    }
    Optional<String> reason = text(json, "reason", MAX_REASON);
    Optional<String> correlationId = text(json, "correlation_id", MAX_CORRELATION_ID);
    return new SignalRequest(signal(json), reason.orElse(""), correlationId);
  }

  // r[impl signals.http.400-list]
  private static String signal(JsonNode json) throws Refused {
    JsonNode signal = json.get("signal");
    if (signal != null && signal.isString() && SIGNALS.contains(signal.asString())) {
      return signal.asString();
    }
    String shown = signal == null ? "" : signal.isString() ? signal.asString() : signal.toString();
    throw new Refused(
        "invalid_signal",
        "Signal '%s' is not recognized. Valid signals: %s"
            .formatted(printable(shown), String.join(", ", SIGNALS)));
  }

  /** Null counts as absent, an empty string does not. */
  private static Optional<String> text(JsonNode json, String field, int limit) throws Refused {
    JsonNode value = json.get(field);
    if (value == null || value.isNull()) {
      return Optional.empty();
    }
    if (!value.isString()) {
      throw invalid(field + " must be a string");
    }
    if (value.asString().length() > limit) {
      throw invalid(field + " must have at most " + limit + " characters");
    }
    return Optional.of(value.asString());
  }

  private static Refused invalid(String message) {
    return new Refused("invalid_request", message);
  }

  /** Truncated, with anything but printable ASCII replaced. */
  private static String printable(String text) {
    var shown = new StringBuilder();
    text.codePoints()
        .limit(MAX_SHOWN)
        .forEach(c -> shown.append(c >= ' ' && c < 0x7f ? Character.toString(c) : "?"));
    return text.length() > MAX_SHOWN ? shown + "..." : shown.toString();
  }
}
