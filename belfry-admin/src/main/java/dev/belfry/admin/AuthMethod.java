package dev.belfry.admin;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How a client proves its identity over TCP, strongest first. */
public enum AuthMethod {
  /** With a client certificate. */
  MTLS,
  /** With a token. */
  BEARER,
  /** With a name and a password. */
  BASIC;

  /**
   * The method named by the setting {@code admin.signal_endpoint_auth_method}.
   *
   * @throws IllegalArgumentException if there is no such method; the message lists the valid ones
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
   * The method in effect: the chosen one, otherwise client certificates if there are authorities
   * for them, otherwise the token.
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
