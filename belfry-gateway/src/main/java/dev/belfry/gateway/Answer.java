package dev.belfry.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.workers.CallException;
import dev.belfry.workers.CircuitOpen;
import dev.belfry.workers.DeadLetter;
import dev.belfry.workers.DeadlinePassed;
import dev.belfry.workers.Death;
import dev.belfry.workers.MethodFailed;
import dev.belfry.workers.PoolClosed;
import dev.belfry.workers.PoolFull;
import dev.belfry.workers.UnknownMethod;
import dev.belfry.workers.WorkerDied;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.http.DirectHandler.TransportResponse;
import io.helidon.http.HeaderNames;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** The answer to a request: a worker's bytes, or an error in JSON. */
final class Answer {
  private static final String JSON = "application/json";
  private static final String BYTES = "application/octet-stream";
  private static final String RETRY_AFTER = "Retry-After";

  /**
   * Seconds: room appears with the next answer, workers only after the pool is reset or replaced.
   */
  private static final String SOON = "1";

  private static final String LATER = "5";

  private final int status;
  private final String contentType;
  private final byte[] body;
  private final Map<String, String> headers = new LinkedHashMap<>();

  private Answer(int status, String contentType, byte[] body) {
    this.status = status;
    this.contentType = contentType;
    this.body = body;
  }

  static Answer ok(byte[] body) {
    return new Answer(200, BYTES, body);
  }

  static Answer error(int status, GatewayError error, String message) {
    return error(status, error, message, Map.of());
  }

  private static Answer error(int status, GatewayError error, String message, Map<String, ?> more) {
    var body = new LinkedHashMap<String, Object>();
    body.put("status", "error");
    body.put("error", error.word());
    body.put("message", message);
    body.putAll(more);
    return new Answer(status, JSON, JsonMapper.shared().writeValueAsBytes(body));
  }

  /** The answer to a call that failed. */
  static Answer of(CallException reason) {
    String message = String.valueOf(reason.getMessage());
    return switch (reason) {
      case UnknownMethod _ -> error(404, GatewayError.UNKNOWN_METHOD, message);
      case PoolFull _ -> full(message);
      case MethodFailed _ -> error(500, GatewayError.METHOD_FAILED, message);
      case WorkerDied died ->
          error(502, GatewayError.WORKER_DIED, message, Map.of("worker", worker(died.death())));
      case DeadLetter letter -> error(502, GatewayError.DEAD_LETTER, message, letter(letter));
      case CircuitOpen open ->
          error(503, GatewayError.CIRCUIT_OPEN, message, Map.of("worker", lastOf(open.death())))
              .header(RETRY_AFTER, LATER);
      case PoolClosed _ -> closing(message);
      case DeadlinePassed _ -> error(504, GatewayError.DEADLINE_PASSED, message);
    };
  }

  static Answer full(String message) {
    return error(429, GatewayError.FULL, message).header(RETRY_AFTER, SOON);
  }

  static Answer closing(String message) {
    return error(503, GatewayError.CLOSING, message).header(RETRY_AFTER, LATER);
  }

  private static Map<String, Object> worker(Death death) {
    var fields = new LinkedHashMap<String, Object>();
    fields.put("name", death.worker());
    fields.put("pid", death.pid());
    fields.put("exit_status", death.exitCode());
    fields.put("how", death.how());
    return fields;
  }

  private static Map<String, Object> letter(DeadLetter letter) {
    var fields = new LinkedHashMap<String, Object>();
    fields.put("attempts", letter.attempts());
    fields.put("worker", lastOf(letter.death()));
    return fields;
  }

  /** The last of several dead workers; the tail of its standard error may say why they all died. */
  private static Map<String, Object> lastOf(Death death) {
    Map<String, Object> worker = worker(death);
    worker.put("error_tail", death.errorTail());
    return worker;
  }

  Answer header(String name, String value) {
    headers.put(name, value);
    return this;
  }

  /** The length of its body in bytes. */
  int size() {
    return body.length;
  }

  /** Sends this as the answer to a call. */
  void send(ServerResponse response) {
    head(response).send(body);
  }

  /** Sends this as the answer to any request; to HEAD, without the body. */
  void send(ServerRequest request, ServerResponse response) {
    if (isHead(request.prologue().method().text())) {
      head(response).header(HeaderNames.CONTENT_LENGTH, Integer.toString(body.length)).send();
    } else {
      send(response);
    }
  }

  private ServerResponse head(ServerResponse response) {
    response
        .status(status)
        .header(HeaderNames.CONTENT_TYPE, contentType)
        .header("Cache-Control", "no-store")
        .header("X-Content-Type-Options", "nosniff"); // a worker's result is never a web page
    headers.forEach(response::header);
    return response;
  }

  private static boolean isHead(String method) {
    return method.equals("HEAD");
  }

  /** Answers input that the server cannot read as a request, in the same form. */
  static TransportResponse ofRubbish(
      TransportRequest request,
      EventType type,
      Status asSeen,
      ServerResponseHeaders headers,
      @Nullable String message) {
    // The server may report input that it could not even parse as its own failure.
    boolean unread = request.method().isEmpty() && asSeen.code() == 500;
    Status status = unread ? Status.BAD_REQUEST_400 : asSeen;
    GatewayError error = status.code() == 500 ? GatewayError.INTERNAL : GatewayError.BAD_REQUEST;
    boolean older = status.code() == 505;
    String text = older ? "Only HTTP/1.1 is spoken here" : sentence(message);
    byte[] body = error(status.code(), error, text).body;
    return TransportResponse.builder()
        .status(status)
        .headers(headers)
        .header(HeaderNames.CONTENT_TYPE, JSON)
        .keepAlive(false)
        .entity(isHead(request.method()) ? new byte[0] : body)
        .build();
  }

  /** The server's message, which may be missing. */
  private static String sentence(@Nullable String message) {
    return message != null ? message : "The request cannot be understood";
  }

  @Override
  public String toString() {
    return status + " " + (contentType.equals(JSON) ? new String(body, UTF_8) : body.length);
  }
}
