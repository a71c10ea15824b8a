package dev.belfry.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.belfry.testkit.RawHttp;
import dev.belfry.workers.WorkerPool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs on this machine may call, web pages may not, and calls over a network need a token. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class WhoMayTest {
  private WorkerPool pool;
  private Gateway gateway;

  @BeforeAll
  void open() throws Exception {
    pool = WorkerPool.open(Running.pool().spares(0));
    assertThat(pool.awaitReady(Running.LONG)).isTrue();
    gateway = Gateway.open(Running.options(), pool);
  }

  @AfterAll
  void close() throws Exception {
    gateway.close();
    pool.close();
  }

  private static String send(InetAddress address, Gateway to, String headers) throws IOException {
    return send(address, to, "/call/upper", headers);
  }

  private static String send(InetAddress address, Gateway to, String target, String headers)
      throws IOException {
    try (SocketChannel channel = SocketChannel.open(new InetSocketAddress(address, to.port()))) {
      RawHttp.write(channel, "POST " + target + " HTTP/1.1\r\n" + headers);
      RawHttp.write(channel, "Connection: close\r\nContent-Length: 2\r\n\r\nhi");
      return RawHttp.readAll(channel);
    }
  }

  private String send(String headers) throws IOException {
    return send(InetAddress.getLoopbackAddress(), gateway, headers);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "LOCALHOST:7070",
        "127.0.0.1:1",
        "127.1.2.3",
        "[::1]",
        "[::1]:7070",
        "[0:0:0:0:0:0:0:1]:7070" // Java's form, which a host on ::1 used to print and then refuse
      })
  void namesOfThisMachineAreOurs(String host) throws Exception {
    assertThat(send("Host: " + host + "\r\n")).startsWith("HTTP/1.1 200 ").endsWith("HI");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:7070",
        "10.0.0.1",
        "[fe80::1]:7070"
      })
  void aNameThatSomebodyElseMadeMeanThisMachineIsRefused(String host) throws Exception {
    assertThat(send("Host: " + host + "\r\n"))
        .startsWith("HTTP/1.1 403 ")
        .contains("\"error\":\"foreign_host\"");
  }

  @ParameterizedTest
  @CsvSource({
    "http://evil.example",
    "null",
    "http://localhost:8080",
    "http://localhost",
    "http://127.0.0.1:7070",
    "http://localhost:7070.evil.example"
  })
  void aPageOfAnotherOriginIsRefused(String origin) throws Exception {
    assertThat(send("Host: localhost:7070\r\nOrigin: " + origin + "\r\n"))
        .startsWith("HTTP/1.1 403 ")
        .contains("\"error\":\"foreign_origin\"");
  }

  /** As for a proxy. This name takes precedence over {@code Host}; it used to get 404. */
  @ParameterizedTest
  @CsvSource({
    "http://localhost:7070/call/upper, localhost:7070, 200",
    "HTTP://[::1]/call/upper?why=not, localhost, 200",
    "https://127.0.0.1/call/upper, evil.example, 200",
    "http://evil.example/call/upper, localhost, 403",
    "http://me@localhost/call/upper, localhost, 403",
    "http:///call/upper, localhost, 403",
    "http://::1/call/upper, localhost, 403",
    "http://[::1].evil.example/call/upper, localhost, 400",
    "http://localhost, localhost, 404",
    "//localhost/call/upper, localhost, 404",
    "call/upper, localhost, 404",
  })
  void theFirstLineMayNameTheHostToo(String target, String host, int status) throws Exception {
    String headers = "Host: " + host + "\r\n";
    assertThat(send(InetAddress.getLoopbackAddress(), gateway, target, headers))
        .startsWith("HTTP/1.1 " + status + " ");
  }

  /** The first one used to count, but an intermediary may have acted on the other. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host: localhost",
        "Origin: http://localhost",
        "Authorization: Bearer secret",
        "Belfry-Delivery: at-most-once",
        "Belfry-Deadline: 30000"
      })
  void aHeaderThatCountsMustNotStandThereTwice(String header) throws Exception {
    String host = header.startsWith("Host") ? "" : "Host: localhost\r\n";
    assertThat(send(host + header + "\r\n")).startsWith("HTTP/1.1 200 ");
    assertThat(send(host + (header + "\r\n").repeat(2)))
        .startsWith("HTTP/1.1 400 ")
        .contains("\"error\":\"bad_request\"");
  }

  @Test
  void aPageOfTheSameOriginMayCall() throws Exception {
    assertThat(send("Host: localhost:7070\r\nOrigin: http://localhost:7070\r\n")).endsWith("HI");
  }

  @Test
  void withoutTheTokenNobodyMay() throws Exception {
    try (Gateway guarded = Gateway.open(Running.options().bearer("secret"::equals), pool)) {
      String host = "Host: localhost\r\n";
      InetAddress here = InetAddress.getLoopbackAddress();
      for (String wrong : new String[] {"", "Authorization: Bearer other\r\n"}) {
        assertThat(send(here, guarded, host + wrong))
            .startsWith("HTTP/1.1 401 ")
            .containsIgnoringCase("WWW-Authenticate: Bearer")
            .contains("\"error\":\"unauthorized\"")
            .contains("is missing or wrong"); // it used to ask for a token that was sent
      }
      assertThat(send(here, guarded, host + "Authorization: Basic secret\r\n"))
          .startsWith("HTTP/1.1 401 ");
      assertThat(send(here, guarded, host + "Authorization: bearer secret\r\n")).endsWith("HI");
    }
  }

  @Test
  void overANetworkThereIsNoGatewayWithoutAToken() throws Exception {
    InetSocketAddress everywhere = new InetSocketAddress("0.0.0.0", 0);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Gateway.open(new GatewayOptions().address(everywhere), pool))
        .withMessageContaining("0.0.0.0 is not a loopback address and needs bearer(...)");
    GatewayOptions options = new GatewayOptions().address(everywhere).bearer("secret"::equals);
    try (Gateway open = Gateway.open(options, pool)) {
      String headers = "Host: workers.example\r\nAuthorization: Bearer secret\r\n";
      assertThat(send(InetAddress.getLoopbackAddress(), open, headers)).endsWith("HI");
    }
  }

  @Test
  void aPortThatIsTakenIsSaid() {
    var taken = new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port());
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> Gateway.open(new GatewayOptions().address(taken), pool))
        .withMessage( // it used to be "something is in the way", whatever the reason
            "the gateway cannot listen: Address already in use at 127.0.0.1:" + gateway.port());
  }

  /** Deadlines that no call can have used to be accepted, and then every request failed. */
  @ParameterizedTest
  @ValueSource(strings = {"PT0.001S", "PT480H"})
  void theShortestAndTheLongestDeadlineAreGoodForCalls(String limit) throws Exception {
    GatewayOptions options = Running.options().deadline(Duration.parse(limit));
    try (Gateway open = Gateway.open(options, pool)) {
      assertThat(send(InetAddress.getLoopbackAddress(), open, "Host: localhost\r\n"))
          .containsPattern("^HTTP/1.1 (200|504) ");
    }
  }

  @Test
  void limitsThatCannotBeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GatewayOptions().maxBytes((64 << 20) + 1));
    for (String wrong : new String[] {"PT0S", "PT-1S", "PT0.000999999S", "PT480H0.001S"}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new GatewayOptions().deadline(Duration.parse(wrong)))
          .withMessage("a call has from a millisecond to 20 days, not " + Duration.parse(wrong));
    }
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                Gateway.open(
                    new GatewayOptions()
                        .address(InetSocketAddress.createUnresolved("nowhere.invalid", 1)),
                    pool))
        .withMessage("there is no address for nowhere.invalid");
  }
}
