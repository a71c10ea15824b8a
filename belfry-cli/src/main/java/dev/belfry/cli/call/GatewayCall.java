package dev.belfry.cli.call;

import dev.belfry.cli.Reason;
import dev.belfry.cli.WebAddress;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A call as an HTTP request; docs/gateway.md describes its headers. */
final class GatewayCall {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(5);

  /** How long after the deadline a gateway may take to report it; one that hangs never does. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  /** More than any gateway allows, and far from overflowing nanoseconds. */
  private static final Duration LONGEST = Duration.ofDays(100);

  private final String method;
  private final byte[] payload;
  private final long deadlineMillis;
  private final boolean atMostOnce;
  private final @Nullable String token;

  GatewayCall(
      String method,
      byte[] payload,
      long deadlineMillis,
      boolean atMostOnce,
      @Nullable String token) {
    this.method = method;
    this.payload = payload;
    this.deadlineMillis = Math.min(deadlineMillis, LONGEST.toMillis());
    this.atMostOnce = atMostOnce;
    this.token = token;
  }

  /**
   * Sends the call and waits for the reply.
   *
   * @param slow run once if there is no reply within {@code patience}
   * @throws HttpTimeoutException if the deadline has passed and the gateway has not reported it
   * @throws IOException if there is no HTTP server at the gateway's address
   */
  Reply send(URI gateway, Duration patience, Runnable slow)
      throws IOException, InterruptedException {
    HttpClient client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_LIMIT)
            .build();
    try {
      long start = System.nanoTime();
      CompletableFuture<HttpResponse<byte[]>> response =
          client.sendAsync(request(gateway), BodyHandlers.ofByteArray());
      try {
        response.get(patience.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        slow.run();
      }
      // Not HttpRequest's own timeout, which covers only the head of the response.
      Duration limit = Duration.ofMillis(deadlineMillis).plus(GRACE);
      long left = limit.toNanos() - (System.nanoTime() - start);
      HttpResponse<byte[]> come = response.get(left, TimeUnit.NANOSECONDS);
      return new Reply(come.statusCode(), come.body(), System.nanoTime() - start);
    } catch (TimeoutException e) {
      throw new HttpTimeoutException(
          "%s says nothing, not even that %d ms have passed: it hangs or is stopped"
              .formatted(gateway, deadlineMillis));
    } catch (ExecutionException e) {
      throw new IOException("cannot call " + gateway + ": " + reason(gateway, e.getCause()), e);
    } finally {
      client.shutdownNow(); // close() would wait for a reply that may never come
    }
  }

  private static String reason(URI gateway, @Nullable Throwable cause) {
    if (cause instanceof ConnectException it) {
      return WebAddress.absence(gateway, it);
    }
    return cause instanceof IOException it ? Reason.of(it) : String.valueOf(cause);
  }

  private HttpRequest request(URI gateway) {
    String name = URLEncoder.encode(method, StandardCharsets.UTF_8).replace("+", "%20");
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway.resolve("/call/" + name))
            .POST(BodyPublishers.ofByteArray(payload))
            .header("Belfry-Deadline", Long.toString(deadlineMillis));
    if (atMostOnce) {
      request.header("Belfry-Delivery", "at-most-once");
    }
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    return request.build();
  }
}
