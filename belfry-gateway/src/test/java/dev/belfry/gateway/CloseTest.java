package dev.belfry.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.RawHttp;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Closing a gateway. */
@Timeout(120)
final class CloseTest {
  private static CompletableFuture<HttpResponse<byte[]>> sleep(Running running, String millis) {
    CompletableFuture<HttpResponse<byte[]>> answer =
        running.client.sendAsync(running.call("sleep", millis).build(), BodyHandlers.ofByteArray());
    await().until(() -> running.inFlight() == 1);
    return answer;
  }

  @Test
  void callsUnderWayFinishAndNobodyElseGetsIn() throws Exception {
    try (Running running = Running.open(Running.pool().spares(0), Running.options());
        SocketChannel idle = running.connect();
        SocketChannel silent = running.connect()) {
      RawHttp.write(idle, Running.post("upper", "", "kept alive"));
      RawHttp.readUntil(idle, "KEPT ALIVE");
      CompletableFuture<HttpResponse<byte[]>> answer = sleep(running, "2000");
      CompletableFuture<Boolean> closed =
          CompletableFuture.supplyAsync(() -> running.gateway.close(Duration.ofSeconds(30)));
      assertThat(RawHttp.readAll(idle)).isEmpty();
      assertThat(RawHttp.readAll(silent)).isEmpty();
      await().until(() -> isRefused(running));
      assertThat(closed).isNotDone();
      assertThat(answer).isNotDone();

      assertThat(new String(answer.get().body(), UTF_8)).isEqualTo("slept");
      assertThat(answer.get().headers().firstValue("connection")).contains("close");
      assertThat(closed.get()).isTrue();
    }
  }

  /** Such a limit used to overflow and leave the gateway half closed. */
  @Test
  void closingMayTakeForEver() throws Exception {
    try (Running running = Running.open(Running.pool().spares(0), Running.options())) {
      assertThat(running.gateway.close(ChronoUnit.FOREVER.getDuration())).isTrue();
    }
  }

  /** Until the listener is closed the kernel still accepts connections, which get no answer. */
  private static boolean isRefused(Running running) throws IOException {
    try (SocketChannel late = running.connect()) {
      assertThat(RawHttp.readAll(late)).isEmpty();
      return false;
    } catch (ConnectException refused) {
      return true;
    }
  }

  @Test
  void whatDoesNotFinishIsCutOffAndItsCallCancelled() throws Exception {
    try (Running running = Running.open(Running.pool().spares(0), Running.options())) {
      CompletableFuture<HttpResponse<byte[]>> answer = sleep(running, "60000");
      long start = System.nanoTime();
      assertThat(running.gateway.close(Duration.ofMillis(300))).isFalse();
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(Duration.ofMillis(300), Duration.ofSeconds(10));
      assertThat(answer)
          .failsWithin(Duration.ofSeconds(10))
          .withThrowableOfType(ExecutionException.class);
      await().until(() -> running.inFlight() == 0);
      assertThat(running.pool.status().deaths()).isZero();
    }
  }

  /** It used to count as finished. */
  @Test
  void aRequestWhoseClientTakesTooLongHasNotFinished() throws Exception {
    GatewayOptions options = Running.options().patience(Duration.ofSeconds(4));
    try (Running running = Running.open(Running.pool().spares(0), options);
        SocketChannel slow = running.connect()) {
      String header = "Expect: 100-continue\r\n";
      RawHttp.write(slow, Running.post("upper", header, "late!").replace("late!", ""));
      RawHttp.readUntil(slow, "100 Continue\r\n\r\n"); // from now on it is in progress
      assertThat(running.gateway.close(Duration.ofSeconds(60))).isFalse();
      assertThat(RawHttp.readAll(slow)).isEmpty();
    }
  }

  /** An interrupted thread cannot park, so close used to spin for its whole limit. */
  @Test
  void whoIsInterruptedDoesNotWaitForCalls() throws Exception {
    try (Running running = Running.open(Running.pool().spares(0), Running.options())) {
      CompletableFuture<HttpResponse<byte[]>> answer = sleep(running, "60000");
      long start = System.nanoTime();
      Thread.currentThread().interrupt();
      boolean finished = running.gateway.close(Duration.ofSeconds(40));
      assertThat(Thread.interrupted()).isTrue();
      assertThat(finished).isFalse();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
      assertThat(answer)
          .failsWithin(Duration.ofSeconds(10))
          .withThrowableOfType(ExecutionException.class);
    }
  }

  @Test
  void whoWantsToSendNoMoreIsNotKeptWaiting() throws Exception {
    try (Running running = Running.open(Running.pool().spares(0), Running.options());
        SocketChannel channel = running.connect()) {
      long start = System.nanoTime();
      RawHttp.write(channel, Running.post("upper", "Connection: close\r\n", "the last"));
      assertThat(RawHttp.readAll(channel)).endsWith("THE LAST");
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }
  }

  /** Each attempt used to leave a thread and a descriptor behind. */
  @Test
  void aGatewayThatCannotListenLeavesNothingOpen() throws Exception {
    try (Running first = Running.open(Running.pool().spares(0), Running.options())) {
      var taken = new InetSocketAddress(InetAddress.getLoopbackAddress(), first.gateway.port());
      Descriptors before = Descriptors.now();
      for (int i = 0; i < 5; i++) {
        assertThatExceptionOfType(IOException.class)
            .isThrownBy(() -> Gateway.open(Running.options().address(taken), first.pool))
            .withMessage(
                "the gateway cannot listen: Address already in use at 127.0.0.1:"
                    + taken.getPort());
      }
      await().untilAsserted(() -> assertThat(before.openedSince()).isEmpty());
    }
  }

  @Test
  void nothingStaysOpen() throws Exception {
    try (Running first = Running.open(Running.pool().spares(0), Running.options())) {
      first.text(first.call("upper", "loads classes and opens what stays open"));
      Descriptors before = Descriptors.now();
      for (int i = 0; i < 5; i++) {
        try (Gateway another = Gateway.open(Running.options(), first.pool);
            SocketChannel channel =
                SocketChannel.open(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), another.port()))) {
          RawHttp.write(channel, Running.post("upper", "", "hello"));
          RawHttp.readUntil(channel, "HELLO");
        }
      }
      await().untilAsserted(() -> assertThat(before.openedSince()).isEmpty());
    }
  }
}
