package dev.belfry.gateway;

import static dev.belfry.gateway.Running.json;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.testkit.RawHttp;
import dev.belfry.workers.PoolOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Payloads that are large, slow or many, and clients that disconnect. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class BodiesTest {
  private static final int LARGE = 4 << 20;
  private static final int MAX = LARGE + 1000;

  private Running running;

  @BeforeAll
  void open() throws Exception {
    PoolOptions pool = Running.pool().workers(2).spares(0);
    GatewayOptions options = Running.options().maxBytes(MAX).patience(Duration.ofMillis(1500));
    running = Running.open(pool, options);
  }

  @AfterAll
  void close() throws Exception {
    running.close();
  }

  private static byte[] random(int seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Test
  void fourMebibytesGoEachWay() throws Exception {
    byte[] payload = random(1, LARGE);
    HttpResponse<byte[]> known = running.send(running.call("echo", payload));
    assertThat(Arrays.equals(known.body(), payload)).isTrue();
    HttpResponse<byte[]> askedFirst =
        running.send(running.call("echo", payload).expectContinue(true));
    assertThat(Arrays.equals(askedFirst.body(), payload)).isTrue();
    HttpResponse<byte[]> inChunks =
        running.send(
            running
                .to("/call/echo")
                .POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(payload))));
    assertThat(Arrays.equals(inChunks.body(), payload)).isTrue();
  }

  @Test
  void whatIsTooLargeIs413() throws Exception {
    assertThat(running.send(running.call("echo", new byte[MAX])).body()).hasSize(MAX);
    byte[] payload = new byte[MAX + 1];
    HttpResponse<byte[]> known = running.send(running.call("echo", payload));
    HttpResponse<byte[]> inChunks =
        running.send(
            running
                .to("/call/echo")
                .POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(payload))));
    HttpResponse<byte[]> heldBack =
        running.send(running.call("echo", payload).expectContinue(true));
    for (HttpResponse<byte[]> response : List.of(known, inChunks, heldBack)) {
      assertThat(response.statusCode()).isEqualTo(413);
      assertThat(json(response).get("error").asString()).isEqualTo("too_large");
    }
  }

  @Test
  void manyCallAtTheSameTime() throws Exception {
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      var calls = new ArrayList<Future<Integer>>();
      for (int caller = 0; caller < 32; caller++) {
        int seed = caller;
        calls.add(callers.submit(() -> callMany(seed)));
      }
      for (Future<Integer> call : calls) {
        assertThat(call.get()).isEqualTo(20);
      }
    }
  }

  private int callMany(int seed) throws Exception {
    int right = 0;
    for (int i = 0; i < 20; i++) {
      byte[] payload = random(seed * 100 + i, i % 10 == 0 ? 200_000 : 64);
      HttpResponse<byte[]> response = running.send(running.call("echo", payload));
      right += Arrays.equals(response.body(), payload) ? 1 : 0;
    }
    return right;
  }

  @Test
  void aConnectionServesRequestAfterRequest() throws Exception {
    try (SocketChannel channel = running.connect()) {
      for (int i = 0; i < 3; i++) {
        RawHttp.write(channel, Running.post("upper", "", "again" + i));
        assertThat(RawHttp.readUntil(channel, "AGAIN" + i)).startsWith("HTTP/1.1 200 ");
      }
      RawHttp.write(
          channel, Running.post("upper", "", "one") + Running.post("upper", "", "another"));
      assertThat(RawHttp.readUntil(channel, "ANOTHER")).contains("ONE");
    }
  }

  @Test
  void whoSendsTooSlowlyIsCutOff() throws Exception {
    try (SocketChannel nothing = running.connect();
        SocketChannel head = running.connect();
        SocketChannel body = running.connect();
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      long start = System.nanoTime();
      RawHttp.write(head, "POST /call/upper HTTP/1.1\r\nX-Slow: ");
      RawHttp.write(
          body, "POST /call/upper HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
      Future<?> drip =
          threads.submit(
              () -> {
                while (true) { // until the connection is closed
                  Thread.sleep(100);
                  RawHttp.write(head, "x");
                  RawHttp.write(body, "x");
                }
              });
      for (SocketChannel channel : List.of(nothing, head, body)) {
        assertThat(RawHttp.readAll(channel)).isEmpty();
      }
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(Duration.ofMillis(1400), Duration.ofSeconds(20));
      drip.cancel(true);
    }
  }

  /** The idle time before a head used to count against it. */
  @Test
  void aHeadHasAllItsTimeHoweverLongTheConnectionWasIdle() throws Exception {
    GatewayOptions options = Running.options().patience(Duration.ofSeconds(4));
    try (Gateway gateway = Gateway.open(options, running.pool);
        SocketChannel channel = connect(0, "127.0.0.1", gateway.port())) {
      assertThat(echo(channel, "first")).endsWith("first");
      Thread.sleep(2500); // longer than half the patience, as the wait below
      String request = Running.post("echo", "", "second");
      RawHttp.write(channel, request.substring(0, 20));
      Thread.sleep(2500);
      RawHttp.write(channel, request.substring(20));
      assertThat(RawHttp.readUntil(channel, "second")).startsWith("HTTP/1.1 200 ");
    }
  }

  @Test
  void whoDoesNotTakeItsAnswerIsCutOff() throws Exception {
    try (SocketChannel channel = running.connect()) {
      channel.setOption(StandardSocketOptions.SO_RCVBUF, 64 * 1024);
      RawHttp.write(channel, Running.post("echo", "", "x".repeat(LARGE)));
      Thread.sleep(3000); // reads nothing for longer than the gateway's patience
      assertThat(RawHttp.readAll(channel)).startsWith("HTTP/1.1 200 ").hasSizeLessThan(LARGE);
    }
    assertThat(running.text(running.call("upper", "others"))).isEqualTo("OTHERS");
  }

  @Test
  void aPayloadThatBreaksOffIsNoCall() throws Exception {
    long before = finished();
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(
          channel, "POST /call/upper HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf");
    }
    try (SocketChannel channel = running.connect()) {
      RawHttp.write(
          channel,
          "POST /call/upper HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
      RawHttp.write(channel, "4\r\nhalf\r\n");
      channel.shutdownOutput();
      assertThat(RawHttp.readAll(channel)).doesNotContain("HALF");
    }
    running.text(running.call("upper", "whole"));
    assertThat(finished()).isEqualTo(before + 1);
  }

  private long finished() {
    return running.pool.status().workers().stream().mapToLong(worker -> worker.finished()).sum();
  }

  @Test
  void aClientThatGoesAwayCancelsItsCall() throws Exception {
    for (boolean resets : new boolean[] {false, true}) {
      SocketChannel channel = running.connect();
      if (resets) {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
      RawHttp.write(channel, Running.post("sleep", "", "60000"));
      await().until(() -> running.inFlight() == 1);
      channel.close();
      await().atMost(Duration.ofSeconds(20)).until(() -> running.inFlight() == 0);
    }
    assertThat(running.pool.status().deaths()).as("it stopped by itself").isZero();
  }

  @Test
  void aLongCallOutlastsThePatienceWithItsClient() throws Exception {
    assertThat(new String(running.send(running.call("sleep", "2500")).body(), UTF_8))
        .isEqualTo("slept");
  }

  /** One connection used to be taken for the other, which lost both its limits and its payload. */
  @Test
  void connectionsFromOnePortToTwoAddressesAreTwo() throws Exception {
    GatewayOptions everywhere = Running.options().address(new InetSocketAddress(0));
    try (Gateway gateway = Gateway.open(everywhere.bearer(_ -> true), running.pool);
        SocketChannel first = connect(0, "127.0.0.1", gateway.port())) {
      assertThat(echo(first, "first")).endsWith("first");
      int port = ((InetSocketAddress) first.getLocalAddress()).getPort();
      try (SocketChannel second = connect(port, "127.0.0.2", gateway.port())) {
        assertThat(echo(second, "second")).endsWith("second");
        String large = "x".repeat(200_000);
        assertThat(echo(first, large)).endsWith(large);
      }
    }
  }

  private static SocketChannel connect(int from, String address, int port) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.INET);
    channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
    channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), from));
    channel.connect(new InetSocketAddress(address, port));
    return channel;
  }

  private static String echo(SocketChannel channel, String text) throws IOException {
    RawHttp.write(channel, Running.post("echo", "", text));
    return RawHttp.readUntil(channel, text);
  }
}
