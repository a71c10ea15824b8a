package dev.belfry.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many bytes of payloads a gateway takes at the same time. */
@Timeout(120)
final class BudgetTest {
  private static final int MOST = 64 << 20;

  /** Clients that only announce what they will send fill it too, and it costs nobody memory. */
  @Test
  void payloadsThatTogetherAreTooLargeAre429UntilOthersHaveEnded() throws Exception {
    long budget = Math.max(MOST, Runtime.getRuntime().maxMemory() / 4);
    try (Running running = Running.open(Running.pool(), Running.options().mostBytes(MOST))) {
      List<SocketChannel> announced = announce(running, (int) (budget / MOST));
      try {
        HttpResponse<byte[]> refused =
            Awaitility.await()
                .atMost(Running.LONG)
                .until(
                    () -> running.send(running.call("echo", new byte[MOST - 1000])),
                    response -> response.statusCode() != 200);
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(Running.json(refused).get("error").asString()).isEqualTo("full");
        assertThat(refused.headers().firstValue("retry-after")).isPresent();
      } finally {
        for (SocketChannel channel : announced) {
          channel.close();
        }
      }
      Awaitility.await()
          .atMost(Running.LONG)
          .pollInterval(Duration.ofMillis(50))
          .until(() -> running.send(running.call("echo", new byte[MOST])).statusCode() == 200);
    }
  }

  private static List<SocketChannel> announce(Running running, int count) throws Exception {
    var channels = new ArrayList<SocketChannel>();
    for (int i = 0; i < count; i++) {
      SocketChannel channel = running.connect();
      channels.add(channel);
      Raw.write(
          channel,
          "POST /call/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
              .formatted(MOST));
    }
    return channels;
  }
}
