package dev.belfry.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/**
 * The answer to a request.
 *
 * @param status the HTTP status
 * @param contentType the type of the body
 * @param body the body, sent as UTF-8
 * @param headers further headers
 * @param signal the signal raised, for the log; empty if none
 * @param correlationId the id for the log and the response header
 * @param afterwards what to run once the answer was sent
 * @param stream writes the body instead, for as long as it lasts; always closed
 */
record Answer(
    int status,
    String contentType,
    String body,
    Map<String, String> headers,
    String signal,
    String correlationId,
    Optional<Runnable> afterwards,
    Optional<ConsoleStream> stream) {
  private static final String JSON_TYPE = "application/json";

  static Answer json(int status, Object body, String correlationId) {
    String json = JsonMapper.shared().writeValueAsString(body);
    return of(status, JSON_TYPE, json, correlationId);
  }

  static Answer text(String contentType, String text, String correlationId) {
    return of(200, contentType, text, correlationId);
  }

  static Answer nothing(String correlationId) {
    return of(204, "text/plain", "", correlationId);
  }

  static Answer stream(String contentType, ConsoleStream stream, String correlationId) {
    return new Answer(
        200, contentType, "", Map.of(), "", correlationId, Optional.empty(), Optional.of(stream));
  }

  private static Answer of(int status, String contentType, String body, String correlationId) {
    return new Answer(
        status, contentType, body, Map.of(), "", correlationId, Optional.empty(), Optional.empty());
  }

  static Answer error(int status, String error, String message, String correlationId) {
    var body = new LinkedHashMap<String, String>();
    body.put("status", "error");
    body.put("error", error);
    body.put("message", message);
    return json(status, body, correlationId);
  }

  Answer header(String name, String value) {
    var more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new Answer(status, contentType, body, more, signal, correlationId, afterwards, stream);
  }

  Answer signal(String name) {
    return new Answer(status, contentType, body, headers, name, correlationId, afterwards, stream);
  }

  Answer then(Runnable action) {
    return new Answer(
        status, contentType, body, headers, signal, correlationId, Optional.of(action), stream);
  }
}
