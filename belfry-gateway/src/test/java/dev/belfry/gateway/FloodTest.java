package dev.belfry.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.RawHttp;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients that never stop sending. The server buffers a whole chunk or line before it hands out a
 * byte, so one request used to fill the heap, whatever the payload limit, and even without a token.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FloodTest {
  private static final int MAX = 1 << 20;

  /** What the gateway discards after an answer, plus what sockets buffer. */
  private static final long TAKEN = 64 << 20;

  private static final long ENOUGH = 4 * TAKEN;
  private static final String TOKEN = "Authorization: Bearer secret\r\n";

  private Running running;

  @BeforeAll
  void open() throws Exception {
    GatewayOptions options = Running.options().maxBytes(MAX).bearer("secret"::equals);
    running = Running.open(Running.pool().spares(0), options);
  }

  @AfterAll
  void close() throws Exception {
    running.close();
  }

  private static String chunked(String headers, String begin) {
    return "POST /call/echo HTTP/1.1\r\nHost: localhost\r\n%sTransfer-Encoding: chunked\r\n\r\n%s"
        .formatted(headers, begin);
  }

  @ParameterizedTest
  @CsvSource({
    "true, a chunk, 7fffffff",
    "true, a line with a size, ''",
    "true, a line behind the last chunk, 0",
    "false, a chunk, 7fffffff",
    "false, a line with a size, ''",
    "false, a line behind the last chunk, 0"
  })
  void whatHasNoEndIsCutOff(boolean mayCall, String what, String size) throws Exception {
    try (SocketChannel channel = running.connect()) {
      String begin = size.isEmpty() ? "" : size + "\r\n";
      RawHttp.write(channel, chunked(mayCall ? TOKEN : "", begin));
      assertThat(RawHttp.flood(channel, ENOUGH)).as(what).isLessThan(2 * TAKEN);
      assertThat(RawHttp.readAll(channel)).startsWith(mayCall ? "HTTP/1.1 413 " : "HTTP/1.1 401 ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"7fffffff\r\n", "100001\r\n", ""})
  void aChunkThatIsTooLongIsToldSo(String begin) throws Exception {
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(channel, chunked(TOKEN, begin) + "0".repeat(2 * MAX));
      assertThat(RawHttp.readAll(channel))
          .startsWith("HTTP/1.1 413 ")
          .contains("\"error\":\"too_large\"");
    }
  }

  @Test
  void theLongestPayloadMayComeInOneChunkOrInVerySmallOnes() throws Exception {
    String head = chunked(TOKEN + "Connection: close\r\n", "");
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(channel, head + "%x\r\n%s\r\n0\r\n\r\n".formatted(MAX, "x".repeat(MAX)));
      assertThat(RawHttp.readAll(channel)).startsWith("HTTP/1.1 200 ").endsWith("x".repeat(MAX));
    }
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(channel, head + "2\r\nxy\r\n".repeat(MAX / 2) + "0\r\n\r\n");
      assertThat(RawHttp.readAll(channel))
          .startsWith("HTTP/1.1 200 ")
          .endsWith("xy".repeat(MAX / 2));
    }
  }

  /** The server used to wait for more until its patience ended, or to log an error of its own. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "\r\nxy\r\n",
        "zz\r\nxy\r\n",
        "-1\r\nxy\r\n",
        "2\nxy\r\n",
        "2\rxy\r\n",
        "80000000\r\nxy\r\n",
        "ffffffffff\r\nxy\r\n",
        "2 2\r\nxy\r\n",
        "0\r\nX-Trailer: more\r\n\r\n"
      })
  void chunksThatCannotBeUnderstoodAre400(String chunk) throws Exception {
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(channel, chunked(TOKEN, chunk));
      assertThat(RawHttp.readAll(channel))
          .startsWith("HTTP/1.1 400 ")
          .contains("\"error\":\"bad_request\"");
    }
  }
}
