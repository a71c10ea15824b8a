package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.RawHttp;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Clients that never stop sending. The server buffers a whole chunk or line before it hands out a
 * byte, so one request used to fill the heap, even without credentials.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FloodTest {
  /** More than sockets have in their buffers. */
  private static final long MUCH = 32 << 20;

  private static final String TOKEN = "Authorization: Bearer " + Transport.TOKEN + "\r\n";

  private Host host;

  @BeforeAll
  void open() throws Exception {
    host =
        Host.openWithSocket(
            socket ->
                new AdminOptions()
                    .port(0)
                    .bearerToken(Secret.of(Transport.TOKEN))
                    .unixSocket(socket)
                    .signalRateLimit(100));
  }

  @AfterAll
  void close() {
    host.close();
  }

  private SocketChannel connect(boolean byUnix) throws IOException {
    return byUnix
        ? SocketChannel.open(UnixDomainSocketAddress.of(host.socket))
        : SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), host.port()));
  }

  private static String chunked(String request, String headers, String body) {
    return request
        + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + headers
        + "Transfer-Encoding: chunked\r\n\r\n"
        + body;
  }

  @ParameterizedTest
  @CsvSource({
    "POST /admin/signal, true, false, 413",
    "POST /admin/signal, false, false, 401",
    "POST /admin/signal, false, true, 413",
    "GET /health/live, false, false, 200",
    "GET /health/live, false, true, 200",
    "POST /nothing, false, false, 404"
  })
  void whatHasNoEndIsCutOff(String request, boolean withToken, boolean byUnix, int status)
      throws Exception {
    for (String begin : new String[] {"7fffffff\r\n", "", "0\r\n"}) {
      try (SocketChannel channel = connect(byUnix)) {
        RawHttp.write(channel, chunked(request, withToken ? TOKEN : "", begin));
        assertThat(RawHttp.flood(channel, 4 * MUCH)).as("after '%s'", begin).isLessThan(MUCH);
        assertThat(RawHttp.readAll(channel)).startsWith("HTTP/1.1 " + status + " ");
      }
    }
  }

  @Test
  void aBodyMayComeInChunks() throws Exception {
    for (boolean byUnix : new boolean[] {false, true}) {
      try (SocketChannel channel = connect(byUnix)) {
        String body = "9\r\n{\"signal\"\r\n9\r\n: \"USR1\"}\r\n0\r\n\r\n";
        RawHttp.write(channel, chunked("POST /admin/signal", TOKEN, body));
        assertThat(RawHttp.readAll(channel)).startsWith("HTTP/1.1 202 ");
      }
    }
  }
}
