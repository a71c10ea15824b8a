package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class ListenTest {
  @Test
  void aPortThatIsTakenFailsWithAMessage() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      AdminOptions options =
          new AdminOptions().port(taken.getLocalPort()).bearerToken(Secret.of(Transport.TOKEN));
      assertThatThrownBy(() -> Host.open(Transport.PLAIN, options))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("the admin surface cannot listen");
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
}
