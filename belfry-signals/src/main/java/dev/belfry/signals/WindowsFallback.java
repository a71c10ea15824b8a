package dev.belfry.signals;

import java.lang.System.Logger.Level;
import java.util.Map;

/**
 * What there is on Windows in the place of a signal it lacks.
 *
 * @param behavior the kind: {@code http_admin_endpoint}, {@code exception_handling} or {@code
 *     timer_api}
 * @param logLevel at which level a registration is logged
 * @param logMessage the same for people
 * @param logTemplate the text of the record, with {@code ${name}} for its fields
 * @param operationHint what to do instead
 * @param telemetryEvent the event that a registration emits
 * @param telemetryTags its tags
 */
public record WindowsFallback(
    String behavior,
    Level logLevel,
    String logMessage,
    String logTemplate,
    String operationHint,
    String telemetryEvent,
    Map<String, String> telemetryTags) {
  public WindowsFallback {
    telemetryTags = Map.copyOf(telemetryTags);
  }

  /** The text of the record for a signal. */
  // r[impl signals.fallback.log-template]
  String logText(Signal signal, Platform platform) {
    return logTemplate
        .replace("${signal}", signal.name())
        .replace("${platform}", platform.id())
        .replace("${fallback_behavior}", behavior)
        .replace("${operation_hint}", operationHint);
  }
}
