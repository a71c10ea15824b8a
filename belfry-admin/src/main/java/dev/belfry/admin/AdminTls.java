package dev.belfry.admin;

import io.helidon.common.configurable.Resource;
import io.helidon.common.pki.Keys;
import io.helidon.common.pki.PemKeys;
import io.helidon.common.tls.Tls;
import io.helidon.common.tls.TlsClientAuth;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * TLS for the admin surface, from PEM files.
 *
 * @param certificates the server's certificate chain, its own certificate first
 * @param privateKey the server's private key
 * @param clientAuthorities the authorities that must have signed client certificates; if empty,
 *     client certificates are not used
 * @param allowedClients the SHA-256 fingerprints, in hexadecimal, of the client certificates that
 *     are allowed; if empty, all that those authorities signed
 */
public record AdminTls(
    Path certificates,
    Path privateKey,
    Optional<Path> clientAuthorities,
    Set<String> allowedClients) {
  public AdminTls {
    allowedClients = Set.copyOf(allowedClients);
  }

  /** TLS without client certificates. */
  public static AdminTls of(Path certificates, Path privateKey) {
    return new AdminTls(certificates, privateKey, Optional.empty(), Set.of());
  }

  /** Returns a copy with client certificates. */
  public AdminTls withClients(Path authorities, Set<String> allowed) {
    return new AdminTls(certificates, privateKey, Optional.of(authorities), allowed);
  }

  /**
   * Reads and validates the files.
   *
   * @throws IllegalArgumentException if they are not valid
   */
  public void check() {
    try {
      build();
      OwnNames.of(certificates);
    } catch (RuntimeException | IOException e) {
      throw new IllegalArgumentException(
          "its files are not certificates and their key in PEM: " + e.getMessage(), e);
    }
  }

  /**
   * Problems that do not keep the surface from opening but will cause trouble: certificates outside
   * their validity period, which clients reject, and a private key that every user can read.
   *
   * @param now the time at which to judge validity
   * @return sentences for people, without full stops
   * @throws IOException if the files cannot be read
   */
  public List<String> warnings(Instant now) throws IOException {
    var warnings = new ArrayList<String>();
    for (X509Certificate certificate : CertificateFile.read(certificates)) {
      String which = "the certificate of %s in %s".formatted(nameOf(certificate), certificates);
      Instant from = certificate.getNotBefore().toInstant();
      Instant until = certificate.getNotAfter().toInstant();
      if (now.isBefore(from)) {
        warnings.add(which + " is not valid before " + from + ", and clients will refuse it");
      } else if (now.isAfter(until)) {
        warnings.add(which + " is out of date since " + until + ", and clients will refuse it");
      }
    }
    if (Secret.mayEverybodyRead(privateKey)) {
      warnings.add("every user may read the key in %s: chmod o= it".formatted(privateKey));
    }
    return warnings;
  }

  private static String nameOf(X509Certificate certificate) {
    return certificate.getSubjectX500Principal().getName();
  }

  /**
   * Builds the configuration. A client certificate is requested but not required: clients without
   * one get a proper 401, and health checks need none. A certificate that is presented must be
   * signed by an authority, or the handshake fails.
   */
  Tls build() throws IOException {
    Keys keys = keys();
    checkPair(keys);
    var tls = Tls.builder().privateKey(keys).privateKeyCertChain(keys);
    clientAuthorities.ifPresent(
        authorities ->
            tls.clientAuth(TlsClientAuth.OPTIONAL)
                .trust(
                    Keys.builder()
                        .pem(PemKeys.builder().certificates(Resource.create(authorities)).build())
                        .build()));
    return tls.build();
  }

  private Keys keys() throws IOException {
    var pem = PemKeys.builder().key(key()).certChain(Resource.create(certificates)).build();
    try {
      return Keys.builder().pem(pem).build();
    } catch (RuntimeException e) { // whatever the PEM reader throws
      throw new IOException(
          "%s; the key has to be in PKCS#8 without a password, as 'openssl pkey -in %s' prints it"
              .formatted(e.getMessage(), privateKey),
          e);
    }
  }

  /**
   * The key without any text before it, which RFC 7468 allows: openssl puts the attributes of a key
   * from a store there.
   */
  private Resource key() throws IOException {
    String text = Files.readString(privateKey, StandardCharsets.ISO_8859_1);
    return Resource.create(
        privateKey.toString(), text.substring(Math.max(0, text.indexOf("-----BEGIN"))));
  }

  /**
   * Checks that key and certificate match; otherwise every connection would fail without a reason.
   */
  private void checkPair(Keys keys) {
    boolean isPair =
        keys.certChain().stream()
            .limit(1)
            .allMatch(it -> isPair(keys.privateKey().orElseThrow(), it.getPublicKey()));
    if (!isPair) {
      throw new IllegalArgumentException(
          privateKey + " is not the key of the first certificate in " + certificates);
    }
  }

  private static boolean isPair(PrivateKey key, PublicKey certified) {
    String kind = key.getAlgorithm().equals("EC") ? "ECDSA" : key.getAlgorithm();
    try {
      var signature = Signature.getInstance("SHA256with" + kind);
      signature.initSign(key);
      byte[] signed = signature.sign();
      signature.initVerify(certified);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) { // key and certificate are of different types
      return false;
    }
  }
}
