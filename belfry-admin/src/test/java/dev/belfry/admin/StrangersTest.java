package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Strangers from many addresses do not keep the operator out. */
@Timeout(120)
final class StrangersTest {
  private static final int STRANGERS = 2_000;
  private static final byte[] USR1 = "{\"signal\": \"USR1\"}".getBytes(UTF_8);

  private static Host openWithSocket() throws Exception {
    return Host.openWithSocket(
        socket ->
            new AdminOptions().port(0).bearerToken(Secret.of(Transport.TOKEN)).unixSocket(socket));
  }

  private static int knock(Host host, int number) throws IOException {
    InetAddress own =
        InetAddress.getByAddress(
            new byte[] {127, 1, (byte) (number / 250), (byte) (1 + number % 250)});
    try (SocketChannel channel = SocketChannel.open()) {
      channel.bind(new InetSocketAddress(own, 0));
      channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), host.port()));
      return RawClient.send(
              channel,
              "POST",
              "/admin/signal",
              Map.of("Authorization", "Bearer guess-" + number),
              USR1)
          .status();
    }
  }

  @Test
  void badTokensFromTwoThousandAddressesDoNotStopTheOperator() throws Exception {
    try (Host host = openWithSocket();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var knocks = new ArrayList<Future<Integer>>();
      var atOnce = new Semaphore(16); // more take longer than a connection may, on a busy machine
      for (int i = 0; i < STRANGERS; i++) {
        int number = i;
        atOnce.acquire();
        knocks.add(
            threads.submit(
                () -> {
                  try {
                    return knock(host, number);
                  } finally {
                    atOnce.release();
                  }
                }));
        if (i % 250 == 125) { // while the strangers knock
          assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(202);
          assertThat(overTheSocket(host).status()).isEqualTo(202);
        }
      }
      for (Future<Integer> knock : knocks) {
        assertThat(knock.get()).isEqualTo(401);
      }
      assertThat(host.log)
          .filteredOn(it -> "401".equals(it.fields().get("status")))
          .hasSize(STRANGERS);
      assertThat(host.log.stream().map(it -> it.text()))
          .noneMatch(text -> text.contains(Transport.TOKEN) || text.contains("guess-"));
    }
  }

  /** Repeated if the machine is so slow that connections are cut off before the answer. */
  @Test
  void withAllTcpConnectionsTakenTheUnixSocketStillAnswers() throws Exception {
    try (Host host = openWithSocket()) {
      boolean wereTaken;
      do {
        var taken = new ArrayList<SocketChannel>();
        var server = new InetSocketAddress(InetAddress.getLoopbackAddress(), host.port());
        for (int i = 0; i < Listeners.TCP_CONNECTIONS + 50; i++) {
          taken.add(SocketChannel.open(server));
        }
        assertThat(overTheSocket(host).status()).isEqualTo(202);
        host.advance(Duration.ofMinutes(1)); // which renews the budget
        wereTaken = isOpen(taken.getFirst());
        for (SocketChannel channel : taken) {
          channel.close();
        }
      } while (!wereTaken);
    }
  }

  private static boolean isOpen(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    return channel.read(ByteBuffer.allocate(1)) == 0;
  }

  private static Answered overTheSocket(Host host) throws IOException {
    return RawClient.send(
        UnixDomainSocketAddress.of(host.socket),
        "POST",
        "/admin/signal",
        Map.of("Content-Type", "application/json"),
        USR1);
  }
}
