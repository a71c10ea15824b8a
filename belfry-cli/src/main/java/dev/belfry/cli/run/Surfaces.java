package dev.belfry.cli.run;

import dev.belfry.admin.AdminOptions;
import dev.belfry.admin.Secret;
import dev.belfry.cli.config.AdminConfig;
import dev.belfry.cli.config.GatewayConfig;
import dev.belfry.cli.config.SecretSource;
import dev.belfry.cli.hosts.RunDirectory;
import dev.belfry.gateway.GatewayOptions;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.Optional;

/** Makes the options of what a host listens with from its configuration. */
final class Surfaces {
  private Surfaces() {}

  static GatewayOptions gateway(GatewayConfig config) throws IOException {
    GatewayOptions options =
        new GatewayOptions()
            .address(config.listen())
            .maxBytes(config.maxBytes())
            .deadline(config.deadline());
    Optional<SecretSource> source = config.token();
    if (source.isPresent()) {
      Secret token = source.get().read();
      options.bearer(token::isSame);
    }
    return options;
  }

  /** The token of the run directory, for an admin surface that needs one and names none. */
  static Optional<Token> token(AdminConfig config, RunDirectory directory) throws IOException {
    return config.needsToken() ? Optional.of(Token.of(directory)) : Optional.empty();
  }

  static AdminOptions admin(AdminConfig config, Optional<Token> token) throws IOException {
    return config.options(token.isPresent() ? Optional.of(token.get().secret()) : Optional.empty());
  }

  /** The server would only say that something is in the way. */
  static void checkFree(String what, InetSocketAddress listen) throws IOException {
    try (var probe = new ServerSocket()) {
      probe.setReuseAddress(true);
      probe.bind(listen);
    } catch (BindException e) {
      throw cannotListen(what, listen, e);
    }
  }

  static IOException cannotListen(String what, InetSocketAddress listen, BindException e) {
    String hint =
        "Permission denied".equals(e.getMessage())
            ? "choose a port above 1023, or let it have CAP_NET_BIND_SERVICE"
            : "is another host running there?";
    return new IOException(
        "the %s cannot listen at %s:%d: %s; %s"
            .formatted(
                what, listen.getAddress().getHostAddress(), listen.getPort(), e.getMessage(), hint),
        e);
  }

  /** Where a listener can be reached; one that listens everywhere also on loopback. */
  static URI uri(String scheme, InetSocketAddress listen, int port) {
    boolean everywhere = listen.getAddress().isAnyLocalAddress();
    String host = everywhere ? "127.0.0.1" : listen.getAddress().getHostAddress();
    String plain = host.contains(":") ? "[" + host + "]" : host;
    return URI.create(scheme + "://" + plain + ":" + port);
  }
}
