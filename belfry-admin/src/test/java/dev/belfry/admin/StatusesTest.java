package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

/** Every status by a real client, over every way there is. */
// r[verify signals.http.utilities]
@ParameterizedClass
@EnumSource(Transport.class)
@Timeout(120)
final class StatusesTest {
  private static final Map<String, String> JSON = Map.of("Content-Type", "application/json");

  private static final byte[] USR1 = "{\"signal\": \"USR1\"}".getBytes(UTF_8);

  private final Transport transport;
  private Host host;

  StatusesTest(Transport transport) {
    this.transport = transport;
  }

  @BeforeEach
  void open() throws Exception {
    host = Host.open(transport);
  }

  @AfterEach
  void close() {
    host.close();
  }

  private int exits() {
    return host.test.exits().size();
  }

  // r[verify signals.http.202]
  // r[verify signals.http.202-body]
  // r[verify signals.http.correlation]
  @Test
  void anAcceptedSignalIsAnsweredAsTheContractSays() throws Exception {
    Answered answered =
        host.signal(
            """
            {"signal": "HUP", "reason": "config reload requested", "correlation_id": "req-123"}
            """);
    assertThat(answered.status()).isEqualTo(202);
    assertThat(answered.header("content-type")).isEqualTo("application/json");
    assertThat(answered.json())
        .isEqualTo(
            JsonMapper.shared()
                .readTree(
                    """
                    {"status": "accepted", "signal": "HUP", "correlation_id": "req-123",
                     "message": "Signal will be processed asynchronously"}
                    """));
    await()
        .until(
            () ->
                host.test.records().stream()
                    .anyMatch(
                        it ->
                            it.event().equals("signal.reload_rejected")
                                && "req-123".equals(it.fields().get("correlation_id"))));
  }

  // r[verify signals.http.signal-set]
  // r[verify signals.http.400]
  // r[verify signals.http.400-list]
  @Test
  void sixSignalsAreAcceptedAndNothingElse() throws Exception {
    for (String signal : List.of("HUP", "TERM", "INT", "QUIT", "USR1", "USR2")) {
      assertThat(host.signal("{\"signal\": \"" + signal + "\"}").status()).isEqualTo(202);
    }
    host.advance(Duration.ofMinutes(2));
    for (String other :
        List.of("\"PIPE\"", "\"ALRM\"", "\"KILL\"", "\"SIGHUP\"", "\"hup\"", "15", "null")) {
      Answered answered = host.signal("{\"signal\": " + other + "}");
      assertThat(answered.status()).as(other).isEqualTo(400);
      assertThat(answered.json().get("error").asString()).isEqualTo("invalid_signal");
    }
    host.advance(Duration.ofMinutes(2));
    assertThat(host.signal("{\"signal\": \"FOO\"}").json())
        .isEqualTo(
            JsonMapper.shared()
                .readTree(
                    """
                    {"status": "error", "error": "invalid_signal",
                     "message": "Signal 'FOO' is not recognized. \
                    Valid signals: HUP, TERM, INT, QUIT, USR1, USR2"}
                    """));
    String unprintable = host.signal("{\"signal\": \"" + "\\n".repeat(99) + "\"}").body();
    assertThat(unprintable).contains("Signal '????").contains("...'").doesNotContain("\\n");
  }

  // r[verify signals.http.optional]
  @Test
  void otherFieldsAreOptionalAndChecked() throws Exception {
    Answered first = host.signal("{\"signal\": \"USR1\"}");
    Answered second = host.signal("{\"signal\": \"USR1\", \"more\": [1, {}]}");
    assertThat(first.json().get("correlation_id").asString())
        .isNotBlank()
        .isNotEqualTo(second.json().get("correlation_id").asString());
    assertThat(host.log)
        .anyMatch(
            it ->
                first
                    .json()
                    .get("correlation_id")
                    .asString()
                    .equals(it.fields().get("correlation_id")));
    for (String wrong :
        List.of(
            "{\"signal\": \"USR1\", \"reason\": 5}",
            "{\"signal\": \"USR1\", \"correlation_id\": {}}",
            "{\"signal\": \"USR1\", \"correlation_id\": \"" + "x".repeat(129) + "\"}",
            "{\"signal\": \"USR1\", \"reason\": \"" + "x".repeat(1025) + "\"}",
            "{\"signal\": \"USR1\", \"signal\": \"USR2\"}",
            "[]",
            "",
            "{\"signal\": \"US")) {
      Answered answered = host.signal(wrong);
      assertThat(answered.status()).as(wrong).isEqualTo(400);
      assertThat(answered.json().get("error").asString()).isEqualTo("invalid_request");
    }
    host.advance(Duration.ofMinutes(2));
    assertThat(host.signal("{\"signal\": \"USR1\"} {}").status()).isEqualTo(400);
    assertThat(host.signal("{\"a\":".repeat(500) + "1" + "}".repeat(500)).status()).isEqualTo(400);
  }

  // r[verify signals.http.route]
  @Test
  void otherMethodsAndPathsAreRefused() throws Exception {
    for (String method : List.of("GET", "PUT", "DELETE")) {
      Answered answered = host.send(method, "/admin/signal", JSON, "");
      assertThat(answered.status()).isEqualTo(405);
      assertThat(answered.header("allow")).isEqualTo("POST");
    }
    for (String path : List.of("/admin/signals", "/signal", "/", "/admin")) {
      assertThat(host.send("POST", path, JSON, "{}").status()).isEqualTo(404);
    }
  }

  // r[verify signals.http.content-type]
  @Test
  void onlyJsonIsTakenAndNotTooMuch() throws Exception {
    String body = "{\"signal\": \"USR1\"}";
    for (String wrong :
        List.of("text/plain", "application/json; charset=latin1", "application/x")) {
      assertThat(host.send("POST", "/admin/signal", Map.of("Content-Type", wrong), body).status())
          .as(wrong)
          .isEqualTo(415);
    }
    assertThat(host.send("POST", "/admin/signal", Map.of(), body).status()).isEqualTo(415);
    String utf8 = "application/json; charset=utf-8";
    assertThat(host.send("POST", "/admin/signal", Map.of("Content-Type", utf8), body).status())
        .isEqualTo(202);
    String full = body + " ".repeat(Surface.MAX_BODY_BYTES - body.length());
    assertThat(host.signal(full).status()).isEqualTo(202);
    assertThat(host.signal(full + " ").status()).isEqualTo(413);
    assertThat(host.signal(full.repeat(2)).status()).isEqualTo(413);
  }

  // r[verify signals.http.rate-default]
  // r[verify signals.http.rate-429]
  // r[verify signals.http.retry-after]
  @Test
  void theEleventhRequestOfAMinuteIsRefusedAndAfterThatTimeServed() throws Exception {
    for (int i = 0; i < 10; i++) {
      assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(202);
    }
    Answered answered = host.signal("{\"signal\": \"TERM\"}");
    assertThat(answered.status()).isEqualTo(429);
    long seconds = Long.parseLong(answered.header("retry-after"));
    assertThat(seconds).isEqualTo(6);
    host.advance(Duration.ofSeconds(seconds).minusNanos(1));
    assertThat(host.signal("{\"signal\": \"TERM\"}").status()).isEqualTo(429);
    host.advance(Duration.ofNanos(1));
    assertThat(exits()).isZero();
    assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(202);
  }

  // r[verify signals.http.auth]
  // r[verify signals.http.auth-fail]
  @Test
  void withoutGoodCredentialsNothingHappens() throws Exception {
    if (transport == Transport.UNIX) { // whoever can open the socket is the owner
      assertThat(host.sendAs("POST", "/admin/signal", JSON, USR1).status()).isEqualTo(202);
      return;
    }
    if (transport == Transport.MTLS) {
      var nobody = Host.certificates().client(Optional.empty());
      assertThat(Transport.https(nobody, host.port(), "POST", "/admin/signal", JSON, USR1).status())
          .isEqualTo(401);
      return;
    }
    for (Map<String, String> bad :
        List.of(
            Map.<String, String>of(),
            Map.of("Authorization", "Bearer"),
            Map.of("Authorization", "Bearer "),
            Map.of("Authorization", "Bearer wrong"),
            Map.of("Authorization", Transport.TOKEN),
            Map.of("Authorization", "Basic " + Transport.TOKEN))) {
      Answered answered =
          host.sendAs("POST", "/admin/signal", bad, "not even JSON".getBytes(UTF_8));
      assertThat(answered.status()).isEqualTo(401);
      assertThat(answered.header("www-authenticate")).startsWith("Bearer");
    }
    assertThat(host.sendAs("GET", "/metrics", Map.of(), new byte[0]).status()).isEqualTo(401);
    assertThat(host.sendAs("GET", "/admin/openapi.json", Map.of(), new byte[0]).status())
        .isEqualTo(401);
    assertThat(exits()).isZero();
  }

  // r[verify signals.http.async]
  @Test
  void theAnswerComesBeforeTheSignalIsDealtWith() throws Exception {
    var proceed = new CountDownLatch(1);
    host.test.signals().handle("TERM", _ -> proceed.await());
    assertThat(host.signal("{\"signal\": \"TERM\"}").status()).isEqualTo(202);
    assertThat(exits()).isZero();
    proceed.countDown();
    await().until(() -> exits() == 1);
    assertThat(host.test.exits()).containsExactly(143);
  }

  // r[verify signals.http.log-all]
  // r[verify signals.http.log-fields]
  @Test
  void everyRequestIsLoggedWithWhoAndWhat() throws Exception {
    host.signal("{\"signal\": \"USR1\", \"correlation_id\": \"a\\r\\nINFO forged\"}");
    host.signal("{\"signal\": \"FOO\"}");
    host.send("PUT", "/admin/signal", JSON, "");
    host.send("POST", "/admin/signal", Map.of("Content-Type", "text/plain"), "x");
    host.signal(" ".repeat(Surface.MAX_BODY_BYTES + 1));
    host.send("GET", "/nowhere", Map.of(), "");

    assertThat(host.log)
        .extracting(it -> it.fields().get("status"))
        .containsExactly("202", "400", "405", "415", "413", "404");
    assertThat(host.log.getFirst().fields())
        .containsEntry("signal", "SIGUSR1")
        .containsEntry("correlation_id", "a\r\nINFO forged")
        .containsEntry("source", transport == Transport.UNIX ? "unix" : "127.0.0.1");
    assertThat(host.log.getFirst().fields().get("identity"))
        .isEqualTo(
            switch (transport) {
              case PLAIN, TLS -> "bearer";
              case MTLS -> "mtls:CN=alice";
              case UNIX -> "unix socket owner";
            });
    assertThat(host.log)
        .allSatisfy(
            it -> {
              assertThat(it.fields())
                  .containsKeys("correlation_id", "source", "identity", "signal");
              assertThat(it.text()).doesNotContain("\n", "\r", Transport.TOKEN);
            });
    assertThat(host.test.records())
        .allSatisfy(it -> assertThat(it.text()).doesNotContain("\n", "\r", Transport.TOKEN));
  }

  @Test
  void healthNeedsNoCredentialsAndTheRestIsThere() throws Exception {
    for (String path : List.of("/health/live", "/health/ready")) {
      Answered answered = host.sendAs("GET", path, Map.of(), new byte[0]);
      assertThat(answered.status()).isEqualTo(200);
      assertThat(answered.body()).isEqualTo("{\"status\":\"up\"}");
    }
    host.signal("{\"signal\": \"USR1\"}");
    Answered metrics = host.send("GET", "/metrics", Map.of(), "");
    assertThat(metrics.status()).isEqualTo(200);
    assertThat(metrics.header("content-type")).startsWith("text/plain");
    assertThat(metrics.body())
        .contains("belfry_admin_requests_total{route=\"/admin/signal\",status=\"202\"} 1.0");
    assertThat(
            host.send("GET", "/admin/openapi.json", Map.of(), "").json().get("openapi").asString())
        .startsWith("3.1");
  }

  /** The metrics used to have no description. */
  @Test
  void everyMetricSaysWhatItIs() throws Exception {
    host.signal("{\"signal\": \"USR1\"}");
    String metrics = host.send("GET", "/metrics", Map.of(), "").body();
    assertThat(metrics.lines().filter(line -> line.startsWith("# HELP belfry_")))
        .isNotEmpty()
        .allMatch(line -> line.matches("# HELP [a-z_]+ [A-Z].+"));
  }

  /** Monitors send HEAD, which used to be answered with 405 and a body that no client reads. */
  @Test
  void headIsAnsweredAsGetWithoutTheBody() throws Exception {
    Answered live = host.sendAs("HEAD", "/health/live", Map.of(), new byte[0]);
    assertThat(live.status()).isEqualTo(200);
    assertThat(live.header("content-length")).isEqualTo("15");
    assertThat(live.body()).isEmpty();
    Answered signal = host.sendAs("HEAD", "/admin/signal", Map.of(), new byte[0]);
    assertThat(signal.status()).isEqualTo(405);
    assertThat(signal.body()).isEmpty();
  }

  @Test
  void itIsNotReadyWhileDraining() throws Exception {
    var proceed = new CountDownLatch(1);
    host.test.signals().onShutdown("slow", proceed::await);
    var end = host.test.injectAsync("TERM");
    await().until(() -> host.sendAs("GET", "/health/ready", Map.of(), new byte[0]).status() == 503);
    assertThat(host.sendAs("GET", "/health/live", Map.of(), new byte[0]).status()).isEqualTo(200);
    proceed.countDown();
    end.join();
  }
}
