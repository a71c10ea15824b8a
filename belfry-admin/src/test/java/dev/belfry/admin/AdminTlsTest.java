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

/** What opens, and will give trouble all the same; it was taken without a word. */
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

  /** A client goes by all of them. */
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

  /** What openssl takes out of a key store begins with where it was, and that was no PEM. */
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

  /** Such as openssl makes them in its older ways; how to get another was not said. */
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
