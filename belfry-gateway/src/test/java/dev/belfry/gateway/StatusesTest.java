package dev.belfry.gateway;

import static dev.belfry.gateway.Running.json;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.testkit.RawHttp;
import dev.belfry.workers.PoolOptions;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Each outcome of a call has its status. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StatusesTest {
  private Running running;

  @BeforeAll
  void open() throws Exception {
    running = Running.open();
  }

  @AfterAll
  void close() throws Exception {
    running.close();
  }

  private void assertError(HttpResponse<byte[]> response, int status, String error) {
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(json(response).get("error").asString()).isEqualTo(error);
  }

  @Test
  void anAnswerIsTheMethodsBytes() throws Exception {
    HttpResponse<byte[]> response = running.send(running.call("upper", "grüße"));
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(new String(response.body(), UTF_8)).isEqualTo("GRÜSSE");
    assertThat(response.headers().firstValue("content-type")).contains("application/octet-stream");
    assertThat(response.headers().firstValue("cache-control")).contains("no-store");
    assertThat(response.headers().firstValue("x-content-type-options")).contains("nosniff");
  }

  @Test
  void aCallNeedsNoPayload() throws Exception {
    assertThat(running.text(running.to("/call/upper").POST(BodyPublishers.noBody()))).isEmpty();
  }

  @Test
  void aNameIsEscapedInThePath() throws Exception {
    assertThat(running.text(running.call("gr%C3%B6%C3%9Fe%2F2+2", "123"))).isEqualTo("3");
  }

  @Test
  void whatNoWorkerHasIs404() throws Exception {
    assertError(running.send(running.call("nothing", "")), 404, "unknown_method");
    assertError(running.send(running.call("x".repeat(300), "")), 404, "unknown_method");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/call", "/call/", "/call/a/b", "/other/upper"})
  void whatIsNoCallIs404(String path) throws Exception {
    assertError(running.send(running.to(path).POST(BodyPublishers.noBody())), 404, "not_found");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "PUT", "DELETE", "OPTIONS"})
  void whatIsNoPostIs405(String method) throws Exception {
    HttpResponse<byte[]> response =
        running.send(running.to("/call/upper").method(method, BodyPublishers.noBody()));
    assertError(response, 405, "method_not_allowed");
    assertThat(response.headers().firstValue("allow")).contains("POST");
  }

  /** A client would take a body for the beginning of the next answer. */
  @ParameterizedTest
  @CsvSource({"/call/upper, 405, 76", "/call, 404, 105", "/call/%zz, 400, 0"})
  void theAnswerToHeadHasNoBody(String path, int status, int length) throws Exception {
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(channel, "HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(path));
      assertThat(RawHttp.readAll(channel))
          .startsWith("HTTP/1.1 " + status + " ")
          .contains("\r\nContent-Length: " + length + "\r\n")
          .endsWith("\r\n\r\n");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Belfry-Delivery, exactly-once, bad_delivery",
    "Belfry-Deadline, soon, bad_deadline",
    "Belfry-Deadline, 0, bad_deadline",
    "Belfry-Deadline, -1, bad_deadline",
    "Belfry-Deadline, 1.5, bad_deadline",
    "Belfry-Deadline, 99999999999999999999, bad_deadline"
  })
  void headersThatMeanNothingAre400(String name, String value, String error) throws Exception {
    assertError(running.send(running.call("upper", "x").header(name, value)), 400, error);
  }

  /** Such a deadline used to be reported as not above 0. */
  @Test
  void aDeadlineWithTooManyDigitsIsToldHowManyItMayHave() throws Exception {
    var request = running.call("upper", "x").header("Belfry-Deadline", "9".repeat(16));
    assertThat(new String(running.send(request).body(), UTF_8))
        .contains("above 0, of at most 15 digits, not '9");
  }

  /** The message used to be null. */
  @Test
  void whatIsNotWellEscapedIs400() throws Exception {
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(channel, Running.post("%zz", "", ""));
      assertThat(RawHttp.readAll(channel))
          .startsWith("HTTP/1.1 400 ")
          .contains("bad_request", "\"message\":\"The request cannot be understood\"");
    }
  }

  /** A quote in a method's name used to be logged and reported as a failure of the server. */
  @ParameterizedTest
  @ValueSource(strings = {"POST /call/upper HTTP/1.1\r\n", "PO\"ST / HTTP/1.1\r\n", "\0 \0\r\n"})
  void whatIsNoRequestIs400InJsonToo(String firstLine) throws Exception {
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(channel, firstLine + "Content-Length: 0\r\n\r\n");
      assertThat(RawHttp.readAll(channel))
          .startsWith("HTTP/1.1 400 ")
          .contains("application/json", "\"error\":\"bad_request\"");
    }
  }

  /** This used to be reported as a failure of the gateway, without saying what to do. */
  @Test
  void anOlderHttpIs505AndSaysWhatIsSpokenHere() throws Exception {
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(channel, Running.post("upper", "", "x").replace("HTTP/1.1", "HTTP/1.0"));
      assertThat(RawHttp.readAll(channel))
          .startsWith("HTTP/1.1 505 ")
          .contains("\"error\":\"bad_request\"", "\"message\":\"Only HTTP/1.1 is spoken here\"");
    }
  }

  /** This used to be reported as a failure of the gateway. */
  @Test
  void aCodingThatNobodyKnowsHereIs501() throws Exception {
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(channel, "POST /call/upper HTTP/1.1\r\nHost: localhost\r\n");
      RawHttp.write(channel, "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n");
      assertThat(RawHttp.readAll(channel))
          .startsWith("HTTP/1.1 501 ")
          .contains("\"error\":\"bad_request\"");
    }
  }

  @Test
  void aMethodThatFailsIs500() throws Exception {
    HttpResponse<byte[]> response = running.send(running.call("fail", "no good"));
    assertError(response, 500, "method_failed");
    assertThat(json(response).get("message").asString()).contains("no good");
  }

  @Test
  void noAnswerInTimeIs504() throws Exception {
    long start = System.nanoTime();
    HttpResponse<byte[]> response =
        running.send(running.call("sleep", "60000").header("Belfry-Deadline", "200"));
    assertError(response, 504, "deadline_passed");
    assertThat(json(response).get("message").asString()).contains("within 200 ms");
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(200), Duration.ofSeconds(20));
  }

  @Test
  void nobodyGetsMoreTimeThanThereIs() throws Exception {
    GatewayOptions options = Running.options().deadline(Duration.ofMillis(300));
    try (Running hasty = Running.open(Running.pool().spares(0), options)) {
      HttpResponse<byte[]> response =
          hasty.send(hasty.call("sleep", "60000").header("Belfry-Deadline", "50000"));
      assertError(response, 504, "deadline_passed");
      assertThat(json(response).get("message").asString()).contains("within 300 ms");
    }
  }

  /** Options set later, for the next gateway, used to affect one that was already open. */
  @Test
  void aGatewayKeepsToTheOptionsItWasOpenedWith() throws Exception {
    GatewayOptions options = Running.options().deadline(Duration.ofMillis(300));
    try (Running first = Running.open(Running.pool().spares(0), options)) {
      options.maxBytes(0).deadline(Duration.ofMillis(1));
      HttpResponse<byte[]> response = first.send(first.call("sleep", "60000"));
      assertError(response, 504, "deadline_passed");
      assertThat(json(response).get("message").asString()).contains("within 300 ms");
    }
  }

  @Test
  void noRoomIs429() throws Exception {
    PoolOptions options = Running.pool().spares(0).callsPerWorker(2);
    try (Running small = Running.open(options, Running.options())) {
      CompletableFuture<HttpResponse<String>> first = busy(small);
      CompletableFuture<HttpResponse<String>> second = busy(small);
      await().until(() -> small.inFlight() == 2);
      HttpResponse<byte[]> response = small.send(small.call("upper", "x"));
      assertError(response, 429, "full");
      assertThat(response.headers().firstValue("retry-after")).contains("1");
      assertThat(first.get().body()).isEqualTo("slept");
      assertThat(second.get().body()).isEqualTo("slept");
      assertThat(small.text(small.call("upper", "room again"))).isEqualTo("ROOM AGAIN");
    }
  }

  private static CompletableFuture<HttpResponse<String>> busy(Running running) {
    return running.client.sendAsync(running.call("sleep", "2000").build(), BodyHandlers.ofString());
  }

  @Test
  void aPoolThatEndsIs503() throws Exception {
    try (Running ending = Running.open(Running.pool().spares(0), Running.options())) {
      assertThat(ending.pool.drain(Duration.ofSeconds(10))).isTrue();
      HttpResponse<byte[]> response = ending.send(ending.call("upper", "x"));
      assertError(response, 503, "closing");
      assertThat(response.headers().firstValue("retry-after")).contains("5");
    }
  }

  @Test
  void workersThatCannotStartAre503() throws Exception {
    PoolOptions options =
        Running.pool()
            .spares(0)
            .crashLimit(2)
            .restartDelay(Duration.ofMillis(10), Duration.ofMillis(10))
            .environment("WORKER_DIES", "1");
    try (Running broken = Running.openAtOnce(options, Running.options())) {
      HttpResponse<byte[]> response = broken.send(broken.call("upper", "x"));
      assertError(response, 503, "circuit_open");
      JsonNode last = json(response).get("worker"); // it used to be missing, and with it the reason
      assertThat(last.get("how").asString()).isEqualTo("exit code 9 (before it was ready)");
      assertThat(last.get("error_tail").asString()).isEqualTo("I cannot start");
      assertThat(response.headers().firstValue("retry-after")).contains("5");
    }
  }
}
