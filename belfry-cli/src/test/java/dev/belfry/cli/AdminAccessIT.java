package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may use the admin surface, as the configuration of a host says. */
class AdminAccessIT {
  private static final String PASSWORD = "correct horse";

  @TempDir private Path directory = Path.of("");

  @Test
  void tlsAndBasicAuthenticationAreAsConfigured() throws Exception {
    makeCertificate();
    Path password = Files.writeString(directory.resolve("password"), PASSWORD);
    Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-------"));
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers: {builtin: demo, count: 1, spares: 0}
            admin:
              listen: '127.0.0.1:0'
              tls: {certificate: host.pem, key: host.key}
              basic: {user: operator, password_file: password}
              signal_endpoint_auth_method: basic
            gateway: {listen: '127.0.0.1:0'}
            """);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      assertThat(host.admin().getScheme()).isEqualTo("https");
      URI metrics = host.admin().resolve("/metrics");
      assertThat(curl("--user", "operator:" + PASSWORD, metrics.toString())).isEqualTo("200");
      assertThat(curl("--user", "operator:wrong", metrics.toString())).isEqualTo("401");
      assertThat(curl(metrics.toString())).isEqualTo("401");
      String plain = metrics.toString().replaceFirst("https", "http");
      assertThat(curl("--user", "operator:" + PASSWORD, plain))
          .as("without TLS")
          .isNotEqualTo("200");
      assertThat(directory.resolve("belfry/admin-token")).as("a token nobody needs").doesNotExist();
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** The status of the answer; 000 if there is none. */
  private String curl(String... arguments) throws Exception {
    var command = new ArrayList<>(List.of("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"));
    command.addAll(List.of("--cacert", directory.resolve("host.pem").toString()));
    command.addAll(List.of(arguments));
    return Program.of(command.toArray(String[]::new)).run().out();
  }

  private void makeCertificate() throws Exception {
    Path store = directory.resolve("host.p12");
    Program.Result made =
        Program.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool"),
                ("-genkeypair -alias host -keyalg EC -dname CN=host -validity 10 -storetype PKCS12"
                        + " -storepass changeit -ext SAN=ip:127.0.0.1 -keystore "
                        + store)
                    .split(" ", -1))
            .run();
    assertThat(made.exitCode()).as(made.err()).isZero();
    char[] password = "changeit".toCharArray();
    KeyStore keys = KeyStore.getInstance(store.toFile(), password);
    writePem("host.pem", "CERTIFICATE", keys.getCertificate("host").getEncoded());
    writePem("host.key", "PRIVATE KEY", keys.getKey("host", password).getEncoded());
  }

  private void writePem(String file, String type, byte[] content) throws Exception {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    Path pem =
        Files.writeString(
            directory.resolve(file),
            "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(type, base64, type));
    Files.setPosixFilePermissions(pem, PosixFilePermissions.fromString("rw-------"));
  }
}
