package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificates and keys that work but will cause trouble used to be accepted without a warning. */
final class AdminTlsTest {
  @TempDir private Path directory = Path.of("");

  private final Instant now = Instant.now();

  @Test
  void thereIsNothingToSayAboutGoodFiles() throws Exception {
    assertThat(server().warnings(now)).isEmpty();
  }

  @Test
  void aCertificateThatIsOutOfDate() throws Exception {
    assertThat(server().warnings(now.plus(Duration.ofDays(20))))
        .singleElement()
        .asString()
        .contains("CN=server", "server.pem", "is out of date since ", "clients will refuse it");
  }

  @Test
  void aCertificateThatIsNotYetValid() throws Exception {
    assertThat(server().warnings(now.minus(Duration.ofDays(1))))
        .singleElement()
        .asString()
        .contains("CN=server", "is not valid before ", "clients will refuse it");
  }

  /** A client checks every certificate of the chain. */
  @Test
  void everyCertificateOfTheChainCounts() throws Exception {
    Certificates made = Host.certificates();
    Path chain =
        Files.writeString(
            directory.resolve("chain.pem"),
            Files.readString(made.pem("server")) + Files.readString(made.pem("alice")));
    assertThat(AdminTls.of(chain, made.key("server")).warnings(now.plus(Duration.ofDays(20))))
        .satisfiesExactly(
            it -> assertThat(it).contains("CN=server"), it -> assertThat(it).contains("CN=alice"));
  }

  @Test
  void aKeyThatEverybodyMayReadIsSaidToBeThatWhenTheSurfaceOpens() throws Exception {
    Certificates made = Host.certificates();
    Path key = Files.copy(made.key("server"), directory.resolve("open.key"));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    AdminOptions options =
        new AdminOptions()
            .port(0)
            .tls(AdminTls.of(made.pem("server"), key))
            .bearerToken(Secret.of(Transport.TOKEN));
    try (Host host = Host.open(Transport.TLS, options)) {
      assertThat(host.log)
          .filteredOn(it -> it.event().equals("admin.tls"))
          .singleElement()
          .satisfies(
              it -> {
                assertThat(it.level()).isEqualTo(Level.WARNING);
                assertThat(it.message()).startsWith("every user may read the key in " + key);
              });
    }
  }

  /** Keys that openssl exports from a key store begin with text, and used to be rejected. */
  @Test
  void textBeforeTheKeyDoesNotCount() throws Exception {
    Certificates made = Host.certificates();
    Path key =
        Files.writeString(
            directory.resolve("exported.key"),
            "Bag Attributes\n    friendlyName: server\nKey Attributes: <No Attributes>\n"
                + Files.readString(made.key("server")));
    AdminTls.of(made.pem("server"), key).check();
  }

  /** Older openssl commands make such keys. The error used not to say how to convert them. */
  @Test
  void howToTurnAKeyOfAnotherFormIntoOneIsSaid() throws Exception {
    Certificates made = Host.certificates();
    String another = Files.readString(made.key("server")).replace("PRIVATE KEY", "EC PRIVATE KEY");
    Path key = Files.writeString(directory.resolve("another.key"), another);
    AdminTls tls = AdminTls.of(made.pem("server"), key);
    assertThatThrownBy(tls::check).hasMessageContaining("'openssl pkey -in " + key + "'");
  }

  private static AdminTls server() throws Exception {
    Certificates made = Host.certificates();
    return AdminTls.of(made.pem("server"), made.key("server"));
  }
}
