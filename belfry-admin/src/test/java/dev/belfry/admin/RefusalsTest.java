package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.RawHttp;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the HTTP server rejects before the surface sees it, which used to be answered as text and
 * not logged.
 */
@Timeout(120)
final class RefusalsTest {
  private static Answered send(Host host, String text) throws Exception {
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), host.port());
    try (SocketChannel channel = SocketChannel.open(address)) {
      RawHttp.write(channel, text);
      return RawClient.parse(RawHttp.readAll(channel));
    }
  }

  // r[verify signals.http.log-all]
  // r[verify signals.http.log-fields]
  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST /admin/signal HTTP/1.1|Host: localhost:port",
        "POST /admin/signal HTTP/1.1|Host: localhost|Content-Length: much",
        "POST /admin/signal HTTP/1.1|Host",
        "POST /admin/sig<nal HTTP/1.1|Host: localhost",
        "POST /admin/signal HTTP/3.7|Host: localhost",
      })
  void whatIsNoRequestIsAnsweredInJsonAndLogged(String lines) throws Exception {
    try (Host host = Host.open(Transport.PLAIN)) {
      Answered answered = send(host, lines.replace("|", "\r\n") + "\r\n\r\n");
      assertThat(answered.status()).isEqualTo(400);
      assertThat(answered.header("content-type")).isEqualTo("application/json");
      assertThat(answered.json().get("error").asString()).isEqualTo("bad_request");
      assertThat(host.log)
          .singleElement()
          .satisfies(
              it ->
                  assertThat(it.fields())
                      .containsEntry("correlation_id", answered.header("x-correlation-id"))
                      .containsEntry("source", "127.0.0.1")
                      .containsEntry("identity", "none")
                      .containsEntry("signal", "none")
                      .containsEntry("status", "400"));
    }
  }

  /** The first one used to count, but an intermediary may have acted on the other. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host: localhost",
        "Origin: http://localhost",
        "Authorization: Bearer " + Transport.TOKEN,
        "Content-Type: application/json"
      })
  void aHeaderThatCountsMustNotStandThereTwice(String header) throws Exception {
    try (Host host = Host.open(Transport.PLAIN)) {
      String name = header.substring(0, header.indexOf(':'));
      String head = "GET /health/live HTTP/1.1\r\n" + (name.equals("Host") ? "" : "Host: here\r\n");
      assertThat(send(host, head + header + "\r\n\r\n").status()).isEqualTo(200);
      Answered answered = send(host, head + (header + "\r\n").repeat(2) + "\r\n");
      assertThat(answered.status()).isEqualTo(400);
      assertThat(answered.json().get("error").asString()).isEqualTo("bad_request");
      assertThat(host.log).extracting(it -> it.fields().get("status")).contains("400");
    }
  }

  @Test
  void tooManyHeadersAreRefused() throws Exception {
    try (Host host = Host.open(Transport.PLAIN)) {
      Answered answered =
          host.sendAs("GET", "/health/live", Map.of("X-Big", "x".repeat(20_000)), new byte[0]);
      assertThat(answered.status()).isIn(400, 413, 431);
      assertThat(host.log).hasSize(1);
    }
  }

  /** A probe over HTTP/1.0 used to be told that it is not an HTTP request. */
  @Test
  void whoSpeaksAnOlderHttpIsToldWhichOneIsSpoken() throws Exception {
    try (Host host = Host.open(Transport.PLAIN)) {
      Answered answered = send(host, "GET /health/live HTTP/1.0\r\n\r\n");
      assertThat(answered.status()).isEqualTo(505);
      assertThat(answered.json().get("message").asString())
          .isEqualTo("Only HTTP/1.1 is spoken here");
    }
  }
}
