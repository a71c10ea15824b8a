package dev.belfry.admin;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where the admin surface listens and who may use it. Each setter modifies this object and returns
 * it; changes do not affect a surface that is already open.
 */
public final class AdminOptions {
  private static final int DEFAULT_SIGNALS_PER_MINUTE = 10;

  @Nullable InetSocketAddress address;
  @Nullable Path unixSocket;
  @Nullable AdminTls tls;
  @Nullable AuthMethod authMethod;
  @Nullable Secret bearerToken;
  @Nullable String basicUser;
  @Nullable Secret basicPassword;
  int signalsPerMinute = DEFAULT_SIGNALS_PER_MINUTE;
  BooleanSupplier takesWork = () -> true;
  LongSupplier nanoClock = System::nanoTime;

  /** Creates options without a listener or credentials; both must be set. */
  public AdminOptions() {}

  /** Listens on a TCP port of the loopback address; 0 for any free port. */
  public AdminOptions port(int port) {
    return address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  /** Listens on a TCP address; any but a loopback address requires {@link #tls}. */
  public AdminOptions address(InetSocketAddress address) {
    this.address = address;
    return this;
  }

  /**
   * Listens on a Unix socket, alone or in addition to TCP. Any client that can open it counts as
   * its owner, so file and directory are accessible to the owner only; a missing directory is
   * created.
   */
  public AdminOptions unixSocket(Path file) {
    this.unixSocket = file;
    return this;
  }

  /** Enables TLS for the TCP listener. */
  public AdminOptions tls(AdminTls tls) {
    this.tls = tls;
    return this;
  }

  /**
   * Sets which credentials are accepted over TCP; by default client certificates if {@link #tls}
   * has client authorities, otherwise the token. {@link AuthMethod#BASIC} must be chosen
   * explicitly.
   */
  public AdminOptions authMethod(AuthMethod method) {
    this.authMethod = method;
    return this;
  }

  /**
   * Sets the token for {@link AuthMethod#BEARER}.
   *
   * @throws IllegalArgumentException if no client could send it; see {@link Secret#asToken}
   */
  public AdminOptions bearerToken(Secret token) {
    this.bearerToken = token.asToken();
    return this;
  }

  /**
   * Sets name and password for {@link AuthMethod#BASIC}.
   *
   * @throws IllegalArgumentException if no client could send the name
   */
  public AdminOptions basic(String user, Secret password) {
    if (user.isBlank() || user.contains(":")) { // a colon separates name and password
      throw new IllegalArgumentException("the name for basic must not be blank or have a colon");
    }
    this.basicUser = user;
    this.basicPassword = password;
    return this;
  }

  /**
   * Sets how many signals a client may raise per minute ({@code admin.signal_rate_limit}); by
   * default 10.
   */
  // r[impl signals.http.rate-config]
  public AdminOptions signalRateLimit(int perMinute) {
    if (perMinute < 1) {
      throw new IllegalArgumentException("admin.signal_rate_limit must be at least 1");
    }
    this.signalsPerMinute = perMinute;
    return this;
  }

  /**
   * Sets whether the program accepts work, which {@code /health/ready} reports until a shutdown
   * begins; by default always.
   *
   * @param takesWork called for each such request, on any thread; must return immediately
   */
  public AdminOptions readyWhile(BooleanSupplier takesWork) {
    this.takesWork = takesWork;
    return this;
  }

  /** Replaces the clock for rate limits and sessions. */
  AdminOptions nanoClock(LongSupplier clock) {
    this.nanoClock = clock;
    return this;
  }

  /**
   * The method in effect over TCP.
   *
   * @throws IllegalArgumentException if its credentials are missing; the message says what to do
   */
  AuthMethod effectiveMethod() {
    AuthMethod method =
        AuthMethod.effective(Optional.ofNullable(authMethod), Optional.ofNullable(tls));
    boolean isUsable =
        switch (method) {
          case MTLS -> tls != null && tls.clientAuthorities().isPresent();
          case BEARER -> bearerToken != null;
          case BASIC -> basicUser != null && basicPassword != null;
        };
    if (!isUsable) {
      throw new IllegalArgumentException(
          switch (method) {
            case MTLS ->
                "mtls needs TLS with client authorities: set"
                    + " tls(AdminTls.of(...).withClients(...))";
            case BEARER ->
                authMethod != null
                    ? "bearer needs a token: set bearerToken(Secret.fromFile(...))"
                    : "the admin surface does not start without credentials: set a token by"
                        + " bearerToken(Secret.fromFile(...)) or fromEnvironment, or client"
                        + " certificates by tls(AdminTls.of(...).withClients(...)), or choose"
                        + " authMethod(AuthMethod.BASIC) with basic(name, ...)";
            case BASIC ->
                "basic needs a name and a password: set basic(name, Secret.fromFile(...))";
          });
    }
    return method;
  }

  /**
   * Rejects unsafe options, as opening the surface does.
   *
   * @throws IllegalArgumentException if they are not safe; the message says what to do
   */
  // r[impl signals.http.auth-basic]
  // r[impl signals.http.surface]
  public void check() {
    if (address == null && unixSocket == null) {
      throw new IllegalArgumentException(
          "the admin surface has nowhere to listen: set port, address or unixSocket");
    }
    if (address != null) {
      AuthMethod method = effectiveMethod();
      InetAddress host = address.getAddress();
      if (host == null) {
        throw new IllegalArgumentException("there is no address for " + address.getHostString());
      }
      if (tls == null && !host.isLoopbackAddress()) {
        throw new IllegalArgumentException(
            "credentials would go over the network in the clear: "
                + host.getHostAddress()
                + " is not a loopback address and needs tls");
      }
      if (method == AuthMethod.BASIC && !isInternal(host)) {
        throw new IllegalArgumentException(
            "basic is for internal networks only and "
                + host.getHostAddress()
                + " is none: listen at a loopback, link-local or private address");
      }
    }
  }

  /**
   * Rejects a Unix socket path that others can reach or that is occupied by something else, as
   * opening the surface does. An existing socket is accepted: it may be the one to replace.
   */
  public void checkUnixSocket() throws IOException {
    if (unixSocket != null) {
      new SocketFile(unixSocket).check();
    }
  }

  private static boolean isInternal(InetAddress host) {
    boolean uniqueLocal = host.getAddress().length == 16 && (host.getAddress()[0] & 0xfe) == 0xfc;
    return host.isLoopbackAddress()
        || host.isLinkLocalAddress()
        || host.isSiteLocalAddress()
        || uniqueLocal;
  }
}
