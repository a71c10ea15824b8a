package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.belfry.testkit.RawHttp;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that does not finish is disconnected, and until then harms no other. */
@Timeout(120)
final class SlowClientsTest {
  private static final String HEAD = "POST /admin/signal HTTP/1.1\r\nHost: localhost\r\n";

  /** Enough for forty seconds. */
  private static final int DRIPS = 80;

  private static SocketChannel connect(Host host) throws IOException {
    return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), host.port()));
  }

  /**
   * Sends a byte every half second, for many times as long as a request may take. Returns how long
   * it took until the server closed the connection.
   */
  private static Duration drip(Host host, String begin) throws Exception {
    var isAllSent = new AtomicBoolean();
    long start = System.nanoTime();
    try (SocketChannel channel = connect(host)) {
      RawHttp.write(channel, begin);
      Thread writer =
          Thread.startVirtualThread(
              () -> {
                try {
                  for (int i = 0; i < DRIPS; i++) {
                    Thread.sleep(500);
                    RawHttp.write(channel, "x");
                  }
                  isAllSent.set(true);
                  channel.shutdownOutput(); // or both sides might wait for each other
                } catch (IOException | InterruptedException cutOff) {
                  // Expected: the server has closed the connection.
                }
              });
      RawHttp.readAll(channel);
      writer.interrupt();
      writer.join();
    }
    assertThat(isAllSent).as("not cut off").isFalse();
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Test
  void unfinishedHeadersAndBodiesAreCutOffAfterFiveSeconds() throws Exception {
    try (Host plain = Host.open(Transport.PLAIN);
        Host tls = Host.open(Transport.TLS);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      String authorized = HEAD + "Authorization: Bearer " + Transport.TOKEN + "\r\n";
      List<Callable<Duration>> slow =
          List.of(
              () -> drip(plain, ""), // not even a request line
              () -> drip(plain, HEAD + "X-Slow: "),
              () ->
                  drip(
                      plain,
                      authorized
                          + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"),
              () -> drip(tls, "no TLS at all")); // in the handshake
      List<Future<Duration>> ends = threads.invokeAll(slow);
      for (int i = 0; i < 3; i++) {
        assertThat(ends.get(i).get()).isGreaterThan(Duration.ofMillis(4_500));
      }
      assertThat(ends.get(3).get()).isPositive(); // possibly at once: these bytes are not TLS
    }
  }

  /** Such requests used not to be logged at all. */
  @Test
  void whoSendsOnlyAPartOfTheBodyIsLoggedToo() throws Exception {
    String unfinished =
        HEAD
            + "Authorization: Bearer "
            + Transport.TOKEN
            + "\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{";
    try (Host host = Host.open(Transport.PLAIN)) {
      try (SocketChannel breaksOff = connect(host)) {
        RawHttp.write(breaksOff, unfinished);
      }
      try (SocketChannel stalls = connect(host)) {
        RawHttp.write(stalls, unfinished);
        await().atMost(Duration.ofSeconds(30)).until(() -> host.log.size() == 2);
      }
      assertThat(host.log)
          .extracting(it -> it.fields().get("status"), it -> it.fields().get("identity"))
          .containsExactlyInAnyOrder(tuple("400", "bearer"), tuple("408", "bearer"));
      assertThat(host.meters.scrape())
          .contains("belfry_admin_requests_total{route=\"/admin/signal\",status=\"408\"} 1.0");
    }
  }

  @Test
  void otherClientsAreServedMeanwhile() throws Exception {
    try (Host host = Host.open(Transport.PLAIN)) {
      var idle = new ArrayList<SocketChannel>();
      for (int i = 0; i < 100; i++) {
        idle.add(connect(host));
      }
      assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(202);
      for (SocketChannel channel : idle) {
        channel.close();
      }
    }
  }
}
