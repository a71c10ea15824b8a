package dev.belfry.signals;

import java.lang.System.Logger.Level;
import java.util.Map;

/**
 * What Windows offers in place of a signal that it lacks.
 *
 * @param behavior the kind: {@code http_admin_endpoint}, {@code exception_handling} or {@code
 *     timer_api}
 * @param logLevel the level at which a registration is logged
 * @param logMessage the message of that record, for people
 * @param logTemplate the text of that record, with placeholders such as {@code ${signal}}
 * @param operationHint what to do instead
 * @param telemetryEvent the event that a registration emits
 * @param telemetryTags the event's tags
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

  /** Fills in the template for a signal. */
  // r[impl signals.fallback.log-template]
  String logText(Signal signal, Platform platform) {
    return logTemplate
        .replace("${signal}", signal.name())
        .replace("${platform}", platform.id())
        .replace("${fallback_behavior}", behavior)
        .replace("${operation_hint}", operationHint);
  }
}
