package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Clients that send without an end. The server reads a chunk, or a line, as a whole before it hands
 * out a byte; so one request filled the heap, and needed no credentials for it.
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

  private static byte[] chunked(String request, String headers, String body) {
    return (request
            + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + headers
            + "Transfer-Encoding: chunked\r\n\r\n"
            + body)
        .getBytes(UTF_8);
  }

  /** Zeros until the server refuses more, or there were enough. */
  private static long flood(SocketChannel channel) {
    ByteBuffer zeros = ByteBuffer.wrap("0".repeat(1 << 16).getBytes(UTF_8));
    long count = 0;
    try {
      while (count < 4 * MUCH) {
        count += channel.write(zeros.clear());
      }
    } catch (IOException refused) {
      // That is what is wanted.
    }
    return count;
  }

  private static String readAll(SocketChannel channel) {
    var all = new ByteArrayOutputStream();
    ByteBuffer buffer = ByteBuffer.allocate(4096);
    try {
      while (channel.read(buffer.clear()) >= 0) {
        all.write(buffer.array(), 0, buffer.position());
      }
    } catch (IOException reset) {
      // That is an end too.
    }
    return all.toString(UTF_8);
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
        RawClient.write(channel, chunked(request, withToken ? TOKEN : "", begin));
        assertThat(flood(channel)).as("after '%s'", begin).isLessThan(MUCH);
        assertThat(readAll(channel)).startsWith("HTTP/1.1 " + status + " ");
      }
    }
  }

  @Test
  void aBodyMayComeInChunks() throws Exception {
    for (boolean byUnix : new boolean[] {false, true}) {
      try (SocketChannel channel = connect(byUnix)) {
        String body = "9\r\n{\"signal\"\r\n9\r\n: \"USR1\"}\r\n0\r\n\r\n";
        RawClient.write(channel, chunked("POST /admin/signal", TOKEN, body));
        assertThat(RawClient.readAll(channel)).startsWith("HTTP/1.1 202 ");
      }
    }
  }
}
