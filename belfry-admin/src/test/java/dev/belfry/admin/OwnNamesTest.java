package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** By which names a browser may address the listener. */
final class OwnNamesTest {
  private static final Optional<InetAddress> ELSEWHERE =
      Optional.of(InetAddress.ofLiteral("192.0.2.7"));

  private static OwnNames withCertificate() throws Exception {
    return new OwnNames(
        new InetSocketAddress("0.0.0.0", 9000), Optional.of(Host.certificates().pem("server")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a.example.test", "localhost", "127.0.0.1", "192.0.2.7"})
  void thoseOfTheCertificateAndTheAddressItself(String name) throws Exception {
    assertThat(withCertificate().contains(name, ELSEWHERE)).isTrue();
  }

  /** The certificate's address used to match only with all its zeros, as no browser writes it. */
  @ParameterizedTest
  @ValueSource(strings = {"2001:db8::5", "2001:db8:0:0:0:0:0:5", "2001:0db8::0:5"})
  void anAddressInAnyOfItsForms(String address) throws Exception {
    assertThat(withCertificate().contains(address, ELSEWHERE)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"example.test", "a.b.example.test", "evil.example", "192.0.2.8", "::1", ""})
  void noOthers(String name) throws Exception {
    assertThat(withCertificate().contains(name, ELSEWHERE)).isFalse();
  }

  @Test
  void theConfiguredName() throws Exception {
    var address =
        new InetSocketAddress(InetAddress.getByAddress("Tower", new byte[] {127, 0, 0, 9}), 9000);
    var names = new OwnNames(address, Optional.empty());
    assertThat(names.contains("tower", Optional.of(address.getAddress()))).isTrue();
    assertThat(names.contains("localhost", ELSEWHERE)).isFalse();
  }
}
