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
 * Where the admin surface listens and who may use it. Each method changes this object and returns
 * it; a surface goes by what it was opened with.
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

  /** Without a listener and without credentials: both have to be given. */
  public AdminOptions() {}

  /** Listens at a TCP port of the loopback address; 0 for any that is free. */
  public AdminOptions port(int port) {
    return address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  /** Listens at a TCP address; one that is not loopback needs {@link #tls}. */
  public AdminOptions address(InetSocketAddress address) {
    this.address = address;
    return this;
  }

  /**
   * Listens also, or only, at a Unix socket. Whoever can open it counts as the owner: the file is
   * for its owner only, in a directory that is for its owner only and is created if it is missing.
   */
  public AdminOptions unixSocket(Path file) {
    this.unixSocket = file;
    return this;
  }

  /** TLS for the TCP listener. */
  public AdminOptions tls(AdminTls tls) {
    this.tls = tls;
    return this;
  }

  /**
   * Which credentials count over TCP; by default client certificates where there are any, otherwise
   * the token. {@link AuthMethod#BASIC} has to be chosen.
   */
  public AdminOptions authMethod(AuthMethod method) {
    this.authMethod = method;
    return this;
  }

  /**
   * The token of a client that authenticates by {@link AuthMethod#BEARER}.
   *
   * @throws IllegalArgumentException if no client could send it: {@link Secret#asToken}
   */
  public AdminOptions bearerToken(Secret token) {
    this.bearerToken = token.asToken();
    return this;
  }

  /**
   * Name and password of a client that authenticates by {@link AuthMethod#BASIC}.
   *
   * @throws IllegalArgumentException if no client could send the name
   */
  public AdminOptions basic(String user, Secret password) {
    if (user.isBlank() || user.contains(":")) { // a colon is where clients begin the password
      throw new IllegalArgumentException("the name for basic must not be blank or have a colon");
    }
    this.basicUser = user;
    this.basicPassword = password;
    return this;
  }

  /**
   * How many signals a client may raise in a minute, by default 10: {@code
   * admin.signal_rate_limit}.
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
   * When the program takes work, as {@code /health/ready} reports it until the program ends; by
   * default always.
   *
   * @param takesWork asked on each such request, from any thread; answers at once
   */
  public AdminOptions readyWhile(BooleanSupplier takesWork) {
    this.takesWork = takesWork;
    return this;
  }

  /** Another clock for the limits. */
  AdminOptions nanoClock(LongSupplier clock) {
    this.nanoClock = clock;
    return this;
  }

  /**
   * What counts over TCP.
   *
   * @throws IllegalArgumentException if that is not possible, with what to do about it
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
   * Refuses what would not be safe, as opening the surface does.
   *
   * @throws IllegalArgumentException with what to do about it
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
   * Refuses a place for the Unix socket that others can reach or that something else has, as
   * opening the surface does. A socket that is there is no objection: it may be the one that is to
   * be replaced.
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
