package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SocketAddressesTest {
  private static final byte[] LINK_LOCAL = HexFormat.of().parseHex("fe80" + "0".repeat(27) + "1");

  private static String hex(SocketAddress address) {
    try (Arena arena = Arena.ofConfined()) {
      return HexFormat.of()
          .formatHex(SocketAddresses.encode(arena, address).toArray(ValueLayout.JAVA_BYTE));
    }
  }

  private static SocketAddress roundTrip(SocketAddress address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment encoded = SocketAddresses.encode(arena, address);
      return SocketAddresses.decode(encoded, (int) encoded.byteSize());
    }
  }

  @Test
  void thePortIsBigEndian() throws Exception {
    var address = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 0xabcd);
    assertThat(hex(address)).isEqualTo("0200" + "abcd" + "c0000201" + "0".repeat(16));
    assertThat(roundTrip(address)).isEqualTo(address);
  }

  @Test
  void aScopeGoesAlong() throws Exception {
    var address = new InetSocketAddress(Inet6Address.getByAddress(null, LINK_LOCAL, 7), 80);
    assertThat(hex(address))
        .isEqualTo(
            "0a00" + "0050" + "0".repeat(8) + HexFormat.of().formatHex(LINK_LOCAL) + "07000000");
    var back = (InetSocketAddress) roundTrip(address);
    assertThat(back).isEqualTo(address);
    assertThat(((Inet6Address) back.getAddress()).getScopeId()).isEqualTo(7);
  }

  @Test
  void aPathIsUtf8AndHasAnEnd() {
    var address = UnixDomainSocketAddress.of("/run/a");
    assertThat(hex(address)).isEqualTo("0100" + "2f72756e2f61" + "00");
    assertThat(roundTrip(address)).isEqualTo(address);
  }

  // Regression: a name that cannot be decoded was returned as another one, to which no answer could
  // be sent. Without a locale, any name that is not ASCII caused an exception.
  @Test
  void aPathMayHaveAnyBytes() {
    for (String path : List.of("/run/%FF%2Bsocket", "/%C3%A4")) {
      var address = UnixDomainSocketAddress.of(Path.of(URI.create("file://" + path)));
      assertThat(roundTrip(address)).isEqualTo(address);
      var relative = UnixDomainSocketAddress.of(Path.of("/").relativize(address.getPath()));
      assertThat(roundTrip(relative)).isEqualTo(relative);
    }
  }

  @Test
  void aPathOf107BytesIsTheLongest() {
    var longest = UnixDomainSocketAddress.of("/" + "x".repeat(106));
    assertThat(roundTrip(longest)).isEqualTo(longest);
    assertThatThrownBy(() -> hex(UnixDomainSocketAddress.of("/" + "x".repeat(107))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most 107 bytes, not 108");
  }

  // Regression: it stood for an abstract name of one zero byte, which one socket of the machine
  // could have.
  @Test
  void anEmptyPathIsRefused() {
    assertThatThrownBy(() -> hex(UnixDomainSocketAddress.of("")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has no path");
  }

  @Test
  void anUnresolvedNameIsRefused() {
    assertThatThrownBy(() -> hex(InetSocketAddress.createUnresolved("no.such.host", 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no.such.host");
  }

  @Test
  void anAddressKnowsItsFamily() throws Exception {
    assertThat(Sockets.familyOf(UnixDomainSocketAddress.of("/x")))
        .isEqualTo(StandardProtocolFamily.UNIX);
    assertThat(Sockets.familyOf(new InetSocketAddress(InetAddress.ofLiteral("::1"), 1)))
        .isEqualTo(StandardProtocolFamily.INET6);
    assertThat(Sockets.familyOf(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 1)))
        .isEqualTo(StandardProtocolFamily.INET);
  }
}
