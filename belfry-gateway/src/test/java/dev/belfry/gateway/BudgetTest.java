package dev.belfry.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.RawHttp;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.net.http.HttpResponse;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The bound on the bytes that a gateway keeps in memory. */
@Timeout(120)
final class BudgetTest {
  private static final int MAX = 1 << 20;
  private static final int IN_ALL = 4 * MAX;

  private final List<SocketChannel> channels = new ArrayList<>();
  private Running running;

  @BeforeEach
  void open() throws Exception {
    GatewayOptions options = Running.options().maxBytes(MAX).bytesInAll(IN_ALL);
    running = Running.open(Running.pool(), options);
  }

  @AfterEach
  void close() throws Exception {
    closeAll();
    running.close();
  }

  private void closeAll() throws IOException {
    for (SocketChannel channel : channels) {
      channel.close();
    }
  }

  /** Opens a connection and announces a payload of the maximum length. */
  private SocketChannel announce(String headers) throws IOException {
    SocketChannel channel = running.connect();
    channels.add(channel);
    RawHttp.write(
        channel,
        "POST /call/echo HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n"
            .formatted(headers, MAX));
    return channel;
  }

  private void awaitRoom() {
    Awaitility.await()
        .atMost(Running.LONG)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> running.send(running.call("echo", new byte[MAX])).statusCode() == 200);
  }

  @Test
  void payloadsThatTogetherAreTooLargeAre429UntilOthersHaveEnded() throws Exception {
    HttpResponse<byte[]> refused =
        Awaitility.await()
            .atMost(Running.LONG)
            .until(
                () -> {
                  RawHttp.write(announce(""), "x".repeat(MAX - 1024)); // which may be refused
                  return running.send(running.call("echo", new byte[MAX]));
                },
                response -> response.statusCode() != 200);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(Running.json(refused).get("error").asString()).isEqualTo("full");
    assertThat(refused.headers().firstValue("retry-after")).isPresent();
    closeAll();
    awaitRoom();
  }

  /** They used to reserve all memory, and everybody else was refused for half a minute. */
  @Test
  void whoOnlyAnnouncesTakesNothingFromOthers() throws Exception {
    for (int i = 0; i < 3 * IN_ALL / MAX; i++) {
      RawHttp.readUntil(announce("Expect: 100-continue\r\n"), "100 Continue\r\n\r\n");
    }
    assertThat(running.send(running.call("echo", new byte[MAX])).statusCode()).isEqualTo(200);
  }

  @Test
  void whoWasRefusedTakesNothingFromOthersAnyMore() throws Exception {
    for (int i = 0; i < 3 * IN_ALL / MAX; i++) {
      SocketChannel channel = running.connect();
      channels.add(channel);
      String head = "POST /call/echo HTTP/1.1\r\nHost: localhost\r\n";
      RawHttp.write(channel, head + "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n");
      RawHttp.write(channel, "x".repeat(2 * MAX));
      RawHttp.readUntil(channel, "too_large"); // and stays connected
    }
    assertThat(running.send(running.call("echo", new byte[MAX])).statusCode()).isEqualTo(200);
  }

  /** Clients that did not read their long answers used to fill the heap with them. */
  @Test
  void answersThatNobodyTakesCountToo() throws Exception {
    SocketChannel channel = running.connect();
    channels.add(channel);
    channel.setOption(StandardSocketOptions.SO_RCVBUF, 64 * 1024);
    RawHttp.write(channel, Running.post("zeros", "", Integer.toString(64 * MAX - 1)));
    RawHttp.readUntil(channel, "HTTP/1.1 200 ");
    HttpResponse<byte[]> refused = running.send(running.call("upper", ""));
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(Running.json(refused).get("error").asString()).isEqualTo("full");
    closeAll();
    awaitRoom();
  }
}
