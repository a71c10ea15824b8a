package dev.belfry.admin;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How a caller over TCP proves its identity; the strongest first. */
public enum AuthMethod {
  /** By a client certificate. */
  MTLS,
  /** By a token. */
  BEARER,
  /** By a name and a password. */
  BASIC;

  /**
   * The method that a value of the setting {@code admin.signal_endpoint_auth_method} names.
   *
   * @throws IllegalArgumentException if there is no such method; it names those there are
   */
  // r[impl signals.http.auth-config]
  public static AuthMethod of(String value) {
    return Stream.of(values())
        .filter(method -> method.id().equals(value))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "'"
                        + value
                        + "' is not a value for admin.signal_endpoint_auth_method: say "
                        + Stream.of(values())
                            .map(AuthMethod::id)
                            .collect(Collectors.joining(", "))));
  }

  /**
   * The method that counts: the chosen one, otherwise client certificates where there are any,
   * otherwise the token.
   */
  // r[impl signals.http.auth-order]
  // r[impl signals.http.auth-default]
  public static AuthMethod effective(Optional<AuthMethod> chosen, Optional<AdminTls> tls) {
    boolean hasClientCertificates = tls.flatMap(AdminTls::clientAuthorities).isPresent();
    return chosen.orElse(hasClientCertificates ? MTLS : BEARER);
  }

  /** Its name in the setting. */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
