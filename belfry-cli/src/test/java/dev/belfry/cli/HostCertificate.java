package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.Base64;

/** A self-signed certificate for 127.0.0.1 with its key, in PEM. */
public final class HostCertificate {
  private static final String PASSWORD = "changeit";

  private HostCertificate() {}

  /** Writes {@code host.pem} and {@code host.key}. */
  public static void write(Path directory) throws Exception {
    write(directory.resolve("host.pem"), directory.resolve("host.key"));
  }

  /** Writes them to these files. */
  public static void write(Path certificate, Path key) throws Exception {
    write(certificate, key, "+0d");
  }

  /** Writes an expired {@code host.pem}, and {@code host.key}. */
  static void writeOutOfDate(Path directory) throws Exception {
    write(directory.resolve("host.pem"), directory.resolve("host.key"), "-30d");
  }

  private static void write(Path certificate, Path key, String startDate) throws Exception {
    Path store = certificate.resolveSibling("host.p12");
    Program.Result made =
        Program.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool"),
                ("-genkeypair -alias host -keyalg EC -dname CN=host -validity 10 -storetype PKCS12"
                        + " -ext SAN=ip:127.0.0.1 -storepass "
                        + PASSWORD
                        + " -startdate "
                        + startDate
                        + " -keystore "
                        + store)
                    .split(" ", -1))
            .run();
    assertThat(made.exitCode()).as(made.err()).isZero();
    KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    writePem(certificate, "CERTIFICATE", keys.getCertificate("host").getEncoded());
    writePem(key, "PRIVATE KEY", keys.getKey("host", PASSWORD.toCharArray()).getEncoded());
  }

  private static void writePem(Path file, String type, byte[] content) throws Exception {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    Files.writeString(
        file, "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(type, base64, type));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }
}
