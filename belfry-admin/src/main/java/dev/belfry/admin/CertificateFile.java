package dev.belfry.admin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;

/** A PEM file with certificates. */
final class CertificateFile {
  private CertificateFile() {}

  /**
   * Reads the certificates, in file order; at least one.
   *
   * @throws IOException if the file has no certificate, or has other content
   */
  static List<X509Certificate> read(Path file) throws IOException {
    try (InputStream bytes = Files.newInputStream(file)) {
      List<X509Certificate> certificates =
          CertificateFactory.getInstance("X.509").generateCertificates(bytes).stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (certificates.isEmpty()) {
        throw new IOException("no certificate in " + file);
      }
      return certificates;
    } catch (CertificateException e) {
      throw new IOException("no certificate in " + file, e);
    }
  }
}
