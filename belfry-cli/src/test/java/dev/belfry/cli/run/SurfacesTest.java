package dev.belfry.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The errors for addresses that cannot be used; injected, as they depend on privileges. */
class SurfacesTest {
  static Stream<Arguments> reasons() {
    return Stream.of(
        Arguments.of(Errno.EADDRINUSE, "the port is taken; is another host running there?"),
        Arguments.of(
            Errno.EACCES,
            "this process may not have that port; choose one above 1023, or let it have CAP_NET_BIND_SERVICE"));
  }

  /** Other errors are reported in the kernel's words. */
  @Test
  void anyOtherReasonIsGivenAsItIs() {
    var listen = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 443);
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.fail("bind", Errno.EADDRNOTAVAIL);
    assertThatIOException()
        .isThrownBy(() -> Surfaces.checkFree(tap.sys(), "gateway", listen))
        .withMessageContaining("127.0.0.1:443: bind(/127.0.0.1:443): EADDRNOTAVAIL");
  }

  /** Regression: an IPv6 address was written in full, and its port looked like a part of it. */
  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, 127.0.0.1:443",
    "0.0.0.0, 127.0.0.1:443",
    "::1, [::1]:443",
    "2001:db8::7:0:0:1, [2001:db8::7:0:0:1]:443",
    "2001:db8:1:2:3:4:5:0, [2001:db8:1:2:3:4:5:0]:443"
  })
  void anAddressIsWrittenAsPeopleWriteIt(String address, String written) {
    var listen = new InetSocketAddress(InetAddress.ofLiteral(address), 443);
    assertThat(Surfaces.uri("http", listen, 443)).hasToString("http://" + written);
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.fail("bind", Errno.EADDRINUSE);
    assertThatIOException()
        .isThrownBy(() -> Surfaces.checkFree(tap.sys(), "gateway", listen))
        .withMessageContaining(address.equals("0.0.0.0") ? "at 0.0.0.0:443:" : "at " + written);
  }

  /** Regression: for a privileged port, the hint was that another host might be running. */
  @ParameterizedTest
  @MethodSource("reasons")
  void theHintFitsTheReason(int errno, String reason) {
    var listen = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 443);
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.fail("bind", errno);
    assertThatIOException()
        .isThrownBy(() -> Surfaces.checkFree(tap.sys(), "gateway", listen))
        .withMessage("the gateway cannot listen at 127.0.0.1:443: " + reason);
  }
}
