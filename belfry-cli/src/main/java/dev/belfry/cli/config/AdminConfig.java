package dev.belfry.cli.config;

import dev.belfry.admin.AdminOptions;
import dev.belfry.admin.AdminTls;
import dev.belfry.admin.AuthMethod;
import dev.belfry.admin.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The admin surface.
 *
 * @param listen its address
 * @param unixSocket the file of its Unix socket, if it has one
 * @param token what a client has to show; without it the one in the run directory
 * @param basic name and password, where that is chosen
 * @param tls its certificates
 * @param authMethod which credentials count; by default the strongest there are
 * @param signalRateLimit how many signals a client may raise in a minute
 */
public record AdminConfig(
    InetSocketAddress listen,
    Optional<Path> unixSocket,
    Optional<SecretSource> token,
    Optional<Basic> basic,
    Optional<AdminTls> tls,
    Optional<AuthMethod> authMethod,
    int signalRateLimit) {
  static final AdminConfig DEFAULT =
      new AdminConfig(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 7071),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          10);

  /** Which credentials count. */
  public AuthMethod effectiveMethod() {
    return AuthMethod.effective(authMethod, tls);
  }

  /** Whether it takes a token and names none: then that of the run directory counts. */
  public boolean needsToken() {
    return effectiveMethod() == AuthMethod.BEARER && token.isEmpty();
  }

  /**
   * What the surface is opened with.
   *
   * @param ofRunDirectory its token, if {@link #needsToken}
   * @throws IOException if a secret cannot be read
   * @throws IllegalArgumentException if one of them is empty
   */
  public AdminOptions options(Optional<Secret> ofRunDirectory) throws IOException {
    AdminOptions options = new AdminOptions().address(listen).signalRateLimit(signalRateLimit);
    unixSocket.ifPresent(options::unixSocket);
    tls.ifPresent(options::tls);
    authMethod.ifPresent(options::authMethod);
    ofRunDirectory.ifPresent(options::bearerToken);
    if (basic.isPresent()) {
      options.basic(basic.get().user(), basic.get().password().read());
    }
    if (token.isPresent()) {
      options.bearerToken(token.get().read());
    }
    return options;
  }

  /**
   * Name and password.
   *
   * @param user the name
   * @param password where the password is
   */
  public record Basic(String user, SecretSource password) {}
}
