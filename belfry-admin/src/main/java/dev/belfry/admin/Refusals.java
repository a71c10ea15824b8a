package dev.belfry.admin;

import io.helidon.common.socket.PeerInfo;
import io.helidon.http.DirectHandler;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.http.DirectHandler.TransportResponse;
import io.helidon.http.HeaderNames;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;

/**
 * Answers what the HTTP server itself rejects on one connection, such as oversized headers, in the
 * same form as any other request, and logs it with its sender, which the server would not.
 *
 * @param client the client of the connection
 * @param log where rejections are logged
 */
record Refusals(PeerInfo client, RequestLog log) implements DirectHandler {
  @Override
  public TransportResponse handle(
      TransportRequest request,
      EventType type,
      Status status,
      ServerResponseHeaders headers,
      String message) {
    boolean isOurs = type == EventType.INTERNAL_ERROR;
    Answer answer =
        Answer.error(
            status.code(),
            isOurs ? "internal" : "bad_request",
            isOurs ? "Something went wrong here" : reason(status),
            UUID.randomUUID().toString());
    if (!isOurs) { // else it was a request, which already has its own record
      log.record(
          client, Identity.NOBODY, request.method(), request.path(), Optional.empty(), answer);
    }
    return TransportResponse.builder()
        .status(status)
        .headers(headers)
        .header(HeaderNames.CONTENT_TYPE, answer.contentType())
        .header(HeaderNames.create("X-Correlation-Id"), answer.correlationId())
        .header(HeaderNames.CACHE_CONTROL, "no-store")
        .keepAlive(false)
        .entity(answer.body().getBytes(StandardCharsets.UTF_8))
        .build();
  }

  /** Some load balancers probe with HTTP/1.0 unless configured otherwise, so name the version. */
  private static String reason(Status status) {
    return status.code() == Status.HTTP_VERSION_NOT_SUPPORTED_505.code()
        ? "Only HTTP/1.1 is spoken here"
        : "This is not an HTTP request";
  }
}
