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
 * The configuration of the admin surface.
 *
 * @param listen its address
 * @param unixSocket the file of its Unix socket, if it has one
 * @param token the token that clients must send; if empty, the one in the run directory
 * @param basic name and password for the method basic
 * @param tls its certificates
 * @param authMethod how clients authenticate; if empty, the strongest method configured
 * @param signalRateLimit how many signals a client may raise per minute
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

  /** Returns how clients authenticate. */
  public AuthMethod effectiveMethod() {
    return AuthMethod.effective(authMethod, tls);
  }

  /** Whether clients need a token and none is configured, so that of the run directory is used. */
  public boolean needsToken() {
    return effectiveMethod() == AuthMethod.BEARER && token.isEmpty();
  }

  /**
   * Returns the options to open the surface with.
   *
   * @param ofRunDirectory the token in the run directory, if {@link #needsToken}
   * @throws IOException if a secret cannot be read
   * @throws IllegalArgumentException if a secret is empty or otherwise not usable
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
   * @param password where to read the password
   */
  public record Basic(String user, SecretSource password) {}
}
