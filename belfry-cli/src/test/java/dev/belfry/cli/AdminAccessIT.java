package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may use the admin surface, according to the host's configuration. */
class AdminAccessIT {
  private static final String PASSWORD = "correct horse";

  @TempDir private Path directory = Path.of("");

  @Test
  void tlsAndBasicAuthenticationAreAsConfigured() throws Exception {
    HostCertificate.write(directory);
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

  /** Regression: the host did not start, because other credentials ruled out the default token. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "basic: {user: operator, password_file: password}",
        "tls: {certificate: host.pem, key: host.key, client_authorities: host.pem}"
      })
  void whoChoosesATokenAndNamesNoneHasThatOfTheRunDirectory(String other) throws Exception {
    HostCertificate.write(directory);
    Files.writeString(directory.resolve("password"), PASSWORD);
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers: {builtin: demo, count: 1, spares: 0}
            admin:
              listen: '127.0.0.1:0'
              signal_endpoint_auth_method: bearer
              %s
            gateway: {listen: '127.0.0.1:0'}
            """
                .formatted(other));
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      String metrics = host.admin().resolve("/metrics").toString();
      assertThat(curl("--oauth2-bearer", host.token(), metrics)).isEqualTo("200");
      assertThat(curl("--user", "operator:" + PASSWORD, metrics)).isEqualTo("401");
    }
  }

  /** Regression: for an untrusted certificate, the error was only that no path could be built. */
  @Test
  void aSignalGoesOverTlsToWhomeverOneTrusts() throws Exception {
    HostCertificate.write(directory);
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers: {builtin: demo, count: 1, spares: 0}
            admin: {listen: '127.0.0.1:0', tls: {certificate: host.pem, key: host.key}}
            gateway: {listen: '127.0.0.1:0'}
            """);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      Program.Start signal =
          Program.of(HostProgram.BELFRY, "signal", host.admin().toString(), "TERM")
              .with("XDG_RUNTIME_DIR", directory.toString())
              .without("BELFRY_TOKEN");
      Program.Result strange = signal.run();
      assertThat(strange.exitCode()).isEqualTo(1);
      assertThat(strange.err())
          .startsWith("belfry signal: there is no safe connection to " + host.admin())
          .contains("BELFRY_JAVA_OPTS='-Djavax.net.ssl.trustStore=FILE -Djavax.net.ssl.trust");

      Path trusted = directory.resolve("trusted.p12");
      Program.Result kept =
          Program.of(
                  Path.of(System.getProperty("java.home"), "bin", "keytool"),
                  ("-importcert -noprompt -storepass changeit -file host.pem -keystore " + trusted)
                      .split(" ", -1))
              .in(directory)
              .run();
      assertThat(kept.exitCode()).as(kept.err()).isZero();
      Program.Result accepted =
          signal
              .with(
                  "BELFRY_JAVA_OPTS",
                  "-Djavax.net.ssl.trustStorePassword=changeit -Djavax.net.ssl.trustStore="
                      + trusted)
              .run();
      assertThat(accepted.err()).isEmpty();
      assertThat(accepted.exitCode()).isZero();
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** Regression: clients could no longer connect, and neither validate nor the log had warned. */
  @Test
  void aCertificateThatIsOutOfDateIsSaidToBeThatByTheCheckAndAtTheStart() throws Exception {
    HostCertificate.writeOutOfDate(directory);
    String tls = "{listen: '127.0.0.1:0', tls: {certificate: host.pem, key: host.key}}";
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            "workers: {builtin: demo, count: 1, spares: 0}\ngateway: {listen: '127.0.0.1:0'}\nadmin: "
                + tls);
    String warning =
        "the certificate of CN=host in %s is out of date since "
            .formatted(directory.resolve("host.pem"));
    Program.Result checked =
        Program.of(HostProgram.BELFRY, "validate", "--json", config.toString()).run();
    assertThat(checked.err()).startsWith("belfry validate: warning: " + warning);
    assertThat(checked.out()).isEqualTo("[]"); // a warning is not a fault
    assertThat(checked.exitCode()).isZero();

    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      host.program().awaitErr("WARN  " + warning);
    }
  }

  /** Regression: there was a warning for keys only, not for tokens, which give the same access. */
  @Test
  void aSecretThatEveryUserMayReadIsSaidToBeThatByTheCheckAndAtTheStart() throws Exception {
    Path open = Files.writeString(directory.resolve("open"), "of everybody\n");
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
    Path own = Files.writeString(directory.resolve("own"), "of nobody else\n");
    Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rw-r-----"));
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers: {builtin: demo, count: 1, spares: 0}
            gateway: {listen: '127.0.0.1:0', token_file: open}
            admin: {listen: '127.0.0.1:0', token_file: own, basic: {user: me, password_file: open}}
            """);
    String warning = "every user may read the %s in " + open + ": chmod o= it";
    Program.Result checked = Program.of(HostProgram.BELFRY, "validate", config.toString()).run();
    assertThat(checked.err().lines())
        .containsExactly(
            "belfry validate: warning: " + warning.formatted("gateway's token"),
            "belfry validate: warning: " + warning.formatted("admin surface's password"));
    assertThat(checked.exitCode()).isZero();

    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      host.program().awaitErr("WARN  " + warning.formatted("gateway's token"));
      host.program().awaitErr("WARN  " + warning.formatted("admin surface's password"));
    }
  }

  /** Returns the status of the response; 000 if there is none. */
  private String curl(String... arguments) throws Exception {
    var command = new ArrayList<>(List.of("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"));
    command.addAll(List.of("--cacert", directory.resolve("host.pem").toString()));
    command.addAll(List.of(arguments));
    return Program.of(command.toArray(String[]::new)).run().out();
  }
}
