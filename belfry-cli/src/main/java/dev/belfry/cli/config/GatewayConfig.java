package dev.belfry.cli.config;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;

/**
 * The configuration of the gateway, which takes calls over HTTP.
 *
 * @param listen its address
 * @param token the token that clients must send; if empty, none
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
