package dev.belfry.admin;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Authenticates the sender of a request. */
final class Authenticator {
  private static final String BEARER = "bearer ";
  private static final String BASIC = "basic ";

  private final AuthMethod method;
  private final @Nullable Secret token;
  private final @Nullable String user;
  private final @Nullable Secret password;

  /** The fingerprints of the allowed clients; if empty, every client whose chain was verified. */
  private final Set<String> allowed;

  /** Copies the options, which may change later, for another surface. */
  Authenticator(AdminOptions options) {
    this.method = options.effectiveMethod();
    this.token = options.bearerToken;
    this.user = options.basicUser;
    this.password = options.basicPassword;
    this.allowed =
        Optional.ofNullable(options.tls).map(AdminTls::allowedClients).orElse(Set.of()).stream()
            .map(Authenticator::normalized)
            .collect(Collectors.toUnmodifiableSet());
  }

  /** The outcome of authentication. */
  sealed interface Result {
    /** Authenticated and allowed. */
    record Accepted(Identity identity) implements Result {}

    /** Authenticated but not allowed. */
    record Forbidden(Identity identity) implements Result {}

    /** Not authenticated. */
    record Unknown(String challenge) implements Result {}
  }

  /**
   * Authenticates a request by its credentials.
   *
   * @param address the client's address
   * @param authorization the {@code Authorization} header
   * @param certificate the client's certificate, with its chain already verified
   */
  // r[impl signals.http.auth-fail]
  Result authenticate(
      String address, Optional<String> authorization, Optional<X509Certificate> certificate) {
    return switch (method) {
      case MTLS -> certificate.map(this::byCertificate).orElse(new Result.Unknown("mTLS"));
      case BEARER ->
          isToken(authorization)
              ? new Result.Accepted(new Identity("bearer", address))
              : new Result.Unknown("Bearer realm=\"admin\"");
      case BASIC ->
          isPassword(authorization)
              ? new Result.Accepted(new Identity("basic:" + user, address))
              : new Result.Unknown("Basic realm=\"admin\", charset=\"UTF-8\"");
    };
  }

  private Result byCertificate(X509Certificate certificate) {
    String fingerprint = fingerprint(certificate);
    String subject = certificate.getSubjectX500Principal().getName();
    var identity = new Identity("mtls:" + subject, fingerprint);
    boolean isAllowed = allowed.isEmpty() || allowed.contains(fingerprint);
    return isAllowed ? new Result.Accepted(identity) : new Result.Forbidden(identity);
  }

  /** Accepts the form that {@code openssl} prints as well: upper case, with colons. */
  private static String normalized(String fingerprint) {
    return fingerprint.replace(":", "").toLowerCase(Locale.ROOT);
  }

  static String fingerprint(X509Certificate certificate) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded()));
    } catch (NoSuchAlgorithmException | CertificateEncodingException e) {
      throw new IllegalStateException("a certificate that was verified can be encoded", e);
    }
  }

  private boolean isToken(Optional<String> authorization) {
    return token != null && after(BEARER, authorization).filter(token::isSame).isPresent();
  }

  /** Always compares both name and password, so that timing reveals nothing about the name. */
  private boolean isPassword(Optional<String> authorization) {
    if (password == null || user == null) {
      return false;
    }
    String[] parts =
        after(BASIC, authorization).map(Authenticator::decoded).orElse("").split(":", 2);
    boolean isUser = Secret.of(user).isSame(parts[0]);
    boolean isPassword = password.isSame(parts.length == 2 ? parts[1] : "");
    return isUser && isPassword;
  }

  private static String decoded(String base64) {
    try {
      return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return "";
    }
  }

  /** The credentials after the scheme, if the header has that scheme. */
  private static Optional<String> after(String scheme, Optional<String> authorization) {
    return authorization
        .filter(it -> it.regionMatches(true, 0, scheme, 0, scheme.length()))
        .map(it -> it.substring(scheme.length()).strip())
        .filter(it -> !it.isEmpty());
  }
}
