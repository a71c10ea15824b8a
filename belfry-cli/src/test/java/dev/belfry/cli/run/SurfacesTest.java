package dev.belfry.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said of an address that cannot be had; whether it can depends on who asks. */
class SurfacesTest {
  /** A port that needs a right of its own was asked about as if another host held it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Address already in use | is another host running there?
          Permission denied      | choose a port above 1023, or let it have CAP_NET_BIND_SERVICE
          """)
  void theHintFitsTheReason(String reason, String hint) {
    var listen = new InetSocketAddress(InetAddress.getLoopbackAddress(), 443);
    assertThat(Surfaces.cannotListen("gateway", listen, new BindException(reason)))
        .hasMessage("the gateway cannot listen at 127.0.0.1:443: " + reason + "; " + hint);
  }
}
