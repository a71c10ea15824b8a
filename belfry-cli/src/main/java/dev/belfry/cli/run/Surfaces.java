package dev.belfry.cli.run;

import dev.belfry.admin.AdminOptions;
import dev.belfry.admin.Secret;
import dev.belfry.cli.BindProbe;
import dev.belfry.cli.config.AdminConfig;
import dev.belfry.cli.config.GatewayConfig;
import dev.belfry.cli.config.SecretSource;
import dev.belfry.cli.hosts.RunDirectory;
import dev.belfry.gateway.GatewayOptions;
import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Optional;

/** Turns a configuration into the options of a host's servers. */
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
      Secret token = source.get().read().asToken();
      options.bearer(token::isSame);
    }
    return options;
  }

  /** Returns the run directory's token if the admin surface needs one and has no other. */
  static Optional<Token> token(AdminConfig config, RunDirectory directory) throws IOException {
    return config.needsToken() ? Optional.of(Token.of(directory)) : Optional.empty();
  }

  static AdminOptions admin(AdminConfig config, Optional<Token> token) throws IOException {
    return config.options(token.isPresent() ? Optional.of(token.get().secret()) : Optional.empty());
  }

  /** Checks that a server can listen at an address; the server itself would not say why not. */
  static void checkFree(Sys sys, String what, InetSocketAddress listen) throws IOException {
    Optional<ErrnoException> refusal = BindProbe.refusal(sys, listen);
    if (refusal.isPresent()) {
      ErrnoException e = refusal.get();
      String reason =
          switch (e.errno()) {
            case Errno.EADDRINUSE -> "the port is taken; is another host running there?";
            case Errno.EACCES ->
                "this process may not have that port; choose one above 1023, or let it have CAP_NET_BIND_SERVICE";
            default -> String.valueOf(e.getMessage());
          };
      String where = written(listen.getAddress(), listen.getPort());
      throw new IOException("the %s cannot listen at %s: %s".formatted(what, where, reason), e);
    }
  }

  /** Returns the address to reach a server at: on loopback if it listens at all addresses. */
  static URI uri(String scheme, InetSocketAddress listen, int port) {
    boolean everywhere = listen.getAddress().isAnyLocalAddress();
    InetAddress host = everywhere ? InetAddress.ofLiteral("127.0.0.1") : listen.getAddress();
    return URI.create(scheme + "://" + written(host, port));
  }

  /** Returns an address as text. Unlike Java's, it shortens the zeros of an IPv6 address. */
  private static String written(InetAddress address, int port) {
    String host = address.getHostAddress().replaceFirst("(^|:)(0(:|$)){2,}", "::");
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
