package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.signals.Platform;
import dev.belfry.signals.SignalsTesting;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class ListenTest {
  @Test
  void aPortThatIsTakenFailsWithAMessage() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      AdminOptions options =
          new AdminOptions().port(taken.getLocalPort()).bearerToken(Secret.of(Transport.TOKEN));
      assertThatThrownBy(() -> Host.open(Transport.PLAIN, options))
          .isInstanceOf(IOException.class)
          .hasMessage( // it used to be "something is in the way", whatever the reason
              "the admin surface cannot listen: Address already in use at 127.0.0.1:"
                  + taken.getLocalPort());
    }
  }

  @Test
  void certificatesThatAreNotThereFailWithAMessage() {
    Path missing = Path.of("no-such-file.pem");
    AdminOptions options =
        new AdminOptions()
            .port(0)
            .tls(AdminTls.of(missing, missing))
            .bearerToken(Secret.of(Transport.TOKEN));
    assertThatThrownBy(() -> Host.open(Transport.TLS, options))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no-such-file.pem");
  }

  /** Such a key used to pass the check, and then every connection failed. */
  @Test
  void aKeyOfAnotherCertificateIsSaidToBeThat() throws Exception {
    Path key = Host.certificates().key("stranger");
    AdminTls tls = AdminTls.of(Host.certificates().pem("server"), key);
    assertThatThrownBy(tls::check).hasMessageContaining(key + " is not the key of");

    AdminOptions options =
        new AdminOptions().port(0).tls(tls).bearerToken(Secret.of(Transport.TOKEN));
    assertThatThrownBy(() -> Host.open(Transport.TLS, options))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(key + " is not the key of");
  }

  /** The TCP listener, which opened first, used to be reported as the obstacle. */
  @Test
  void aSocketThatCannotBeMadeIsNotTakenForAPortThatIsTaken() throws Exception {
    Path socket = Host.newSocket().resolveSibling("nowhere").resolve("socket");
    AdminOptions options =
        new AdminOptions()
            .port(freePort())
            .bearerToken(Secret.of(Transport.TOKEN))
            .unixSocket(socket);
    var file =
        new SocketFile(socket) {
          @Override
          void prepare() {}
        };
    assertThatThrownBy(() -> open(options, file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("something is in the way at ")
        .hasMessageEndingWith(" or " + socket);
  }

  /** The server used to stay behind on the port, and nobody could close it. */
  @Test
  void whatCannotBeKeptFromOthersIsNotOpenAtAll() throws Exception {
    int port = freePort();
    Path socket = Host.newSocket();
    AdminOptions options =
        new AdminOptions().port(port).bearerToken(Secret.of(Transport.TOKEN)).unixSocket(socket);
    var file =
        new SocketFile(socket) {
          @Override
          void restrict() throws IOException {
            throw new IOException("this file system knows no permissions");
          }
        };
    assertThatThrownBy(() -> open(options, file))
        .hasMessageContaining("this file system knows no permissions");
    new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
    assertThatThrownBy(() -> SocketChannel.open(file.address()).close())
        .isInstanceOf(IOException.class);
  }

  /** Opens a surface that is expected to fail, and closes it if it does not. */
  private static void open(AdminOptions options, SocketFile file) throws Exception {
    try (var test = SignalsTesting.open(Platform.LINUX)) {
      var meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      AdminServer.open(
              options, test.signals(), meters, _ -> {}, Optional.empty(), Optional.of(file))
          .close();
    }
  }

  private static int freePort() throws IOException {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }
}
