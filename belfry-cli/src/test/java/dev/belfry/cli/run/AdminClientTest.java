package dev.belfry.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import dev.belfry.cli.hosts.HostEntry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which addresses belong to hosts of this user. {@code SendSignalIT} shows the consequences. */
class AdminClientTest {
  private static HostEntry host(String admin) {
    return new HostEntry(
        1, "tested", null, URI.create(admin), Path.of("counters"), null, Instant.EPOCH);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"http://127.0.0.1:1", "http://127.9.9.9", "http://[::1]:1", "http://LocalHost:1/"})
  void loopbackIsThisMachine(String surface) {
    assertThat(AdminClient.isLoopback(URI.create(surface))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://10.0.0.5:1",
        "http://localhost.example:1",
        "http://127.0.0.1.example:1",
        "http://127.0.0.1@example.org:1",
        "http://0.0.0.0:1",
        "http://[::]:1"
      })
  void whateverElseLooksLikeItIsNot(String surface) {
    assertThat(AdminClient.isLoopback(URI.create(surface))).isFalse();
  }

  /** Regression: the message was "request timed out", without the address. */
  @Test
  void aHostThatHangsIsNamed() throws IOException {
    try (var silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      URI surface = URI.create("http://127.0.0.1:" + silent.getLocalPort());
      var client = new AdminClient(surface, "token", Duration.ofMillis(200));
      assertThatIOException()
          .isThrownBy(() -> client.raise("TERM", ""))
          .withMessageStartingWith(surface + " does not answer: it hangs");
    }
  }

  @Test
  void aHostOfThisUserIsFoundByItsWholeAddress() {
    List<HostEntry> hosts = List.of(host("https://127.0.0.1:1"), host("https://10.0.0.5:7071"));
    assertThat(AdminClient.isOneOf(hosts, URI.create("https://10.0.0.5:7071/"))).isTrue();
    assertThat(AdminClient.isOneOf(hosts, URI.create("https://10.0.0.5:7072"))).isFalse();
    assertThat(AdminClient.isOneOf(hosts, URI.create("http://10.0.0.5:7071"))).isFalse();
    assertThat(AdminClient.isOneOf(hosts, URI.create("https://10.0.0.6:7071"))).isFalse();
    assertThat(AdminClient.isOneOf(List.of(), URI.create("https://10.0.0.5:7071"))).isFalse();
  }

  /** Regression: any listener at loopback was, and another user's program got the token. */
  @Test
  void atLoopbackAHostOfThisUserIsWhateverTheAddressIsWrittenLike() {
    List<HostEntry> hosts = List.of(host("http://127.0.0.1:1"), host("http://[0:0:0:0:0:0:0:1]:2"));
    assertThat(AdminClient.isOneOf(hosts, URI.create("http://127.0.0.1:1/"))).isTrue();
    assertThat(AdminClient.isOneOf(hosts, URI.create("HTTP://LocalHost:1"))).isTrue();
    assertThat(AdminClient.isOneOf(hosts, URI.create("http://[::1]:2"))).isTrue();
    assertThat(AdminClient.isOneOf(hosts, URI.create("http://127.0.0.1:2"))).isFalse();
    assertThat(AdminClient.isOneOf(hosts, URI.create("http://[::1]:1"))).isFalse();
    assertThat(AdminClient.isOneOf(hosts, URI.create("http://localhost.example:1"))).isFalse();
  }
}
