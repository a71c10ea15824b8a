package dev.belfry.cli.config;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;

/**
 * Where calls come in over HTTP.
 *
 * @param listen its address
 * @param token what a client has to show
 * @param maxBytes the largest request body
 * @param deadline how long a call may take
 */
public record GatewayConfig(
    InetSocketAddress listen, Optional<SecretSource> token, long maxBytes, Duration deadline) {
  static final GatewayConfig DEFAULT =
      new GatewayConfig(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 7070),
          Optional.empty(),
          8 << 20,
          Duration.ofSeconds(30));
}
