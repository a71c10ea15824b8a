package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class AuthenticationTest {
  private static final Map<String, String> JSON = Map.of("Content-Type", "application/json");
  private static final byte[] USR1 = "{\"signal\": \"USR1\"}".getBytes(UTF_8);

  @TempDir private Path directory;

  private static Answered as(Host host, Optional<String> client) throws Exception {
    return Transport.https(
        Host.certificates().client(client), host.port(), "POST", "/admin/signal", JSON, USR1);
  }

  // r[verify signals.http.auth-methods]
  // r[verify signals.http.auth-fail]
  // r[verify signals.http.auth-order]
  @Test
  void aCertificateMustBeVerifiedAndOnTheList() throws Exception {
    AdminOptions both =
        Transport.MTLS
            .options(Host.certificates(), directory)
            .bearerToken(Secret.of(Transport.TOKEN));
    try (Host host = Host.open(Transport.MTLS, both)) {
      assertThat(as(host, Optional.of("alice")).status()).isEqualTo(202);
      Answered bob = as(host, Optional.of("bob"));
      assertThat(bob.status()).isEqualTo(403);
      assertThat(bob.json().get("error").asString()).isEqualTo("forbidden");
      assertThat(as(host, Optional.empty()).status()).isEqualTo(401);
      assertThatThrownBy(() -> as(host, Optional.of("stranger"))).isInstanceOf(IOException.class);

      // The token alone is not enough if certificates are configured.
      Answered token =
          Transport.https(
              Host.certificates().client(Optional.empty()),
              host.port(),
              "POST",
              "/admin/signal",
              Map.of("Authorization", "Bearer " + Transport.TOKEN),
              USR1);
      assertThat(token.status()).isEqualTo(401);
      assertThat(host.log)
          .anyMatch(
              it ->
                  "403".equals(it.fields().get("status"))
                      && "mtls:CN=bob".equals(it.fields().get("identity")));
    }
  }

  // r[verify signals.http.rate-client]
  @Test
  void twoCertificatesFromOneAddressHaveBudgetsOfTheirOwn() throws Exception {
    AdminTls tls =
        AdminTls.of(Host.certificates().pem("server"), Host.certificates().key("server"))
            .withClients(Host.certificates().clients(), Set.of());
    AdminOptions options = new AdminOptions().port(0).tls(tls).signalRateLimit(1);
    try (Host host = Host.open(Transport.MTLS, options)) {
      assertThat(as(host, Optional.of("alice")).status()).isEqualTo(202);
      assertThat(as(host, Optional.of("alice")).status()).isEqualTo(429);
      assertThat(as(host, Optional.of("bob")).status()).isEqualTo(202);
    }
  }

  /** Options set later, for the next surface, used to affect one that was already open. */
  @ParameterizedTest
  @EnumSource(
      value = AuthMethod.class,
      names = {"BEARER", "BASIC"})
  void aSurfaceKeepsToTheOptionsItWasOpenedWith(AuthMethod method) throws Exception {
    AdminOptions options = options(method, "first");
    try (Host first = Host.open(Transport.PLAIN, options)) {
      options
          .bearerToken(Secret.of("second"))
          .basic("operator", Secret.of("second"))
          .readyWhile(() -> false);
      assertThat(raise(first, method, "second").status()).isEqualTo(401);
      assertThat(raise(first, method, "first").status()).isEqualTo(202);
      assertThat(first.sendAs("GET", "/health/ready", Map.of(), new byte[0]).status())
          .isEqualTo(200);
    }
  }

  /** Other certificates used to be accepted once the list was cleared for another surface. */
  @Test
  void nobodyElsesCertificateCountsLater() throws Exception {
    AdminOptions options = Transport.MTLS.options(Host.certificates(), directory);
    try (Host first = Host.open(Transport.MTLS, options)) {
      assertThat(as(first, Optional.of("bob")).status()).isEqualTo(403);
      options.tls(
          AdminTls.of(Host.certificates().pem("server"), Host.certificates().key("server"))
              .withClients(Host.certificates().clients(), Set.of()));
      assertThat(as(first, Optional.of("bob")).status()).isEqualTo(403);
      assertThat(as(first, Optional.of("alice")).status()).isEqualTo(202);
    }
  }

  private static AdminOptions options(AuthMethod method, String secret) {
    return new AdminOptions()
        .port(0)
        .authMethod(method)
        .bearerToken(Secret.of(secret))
        .basic("operator", Secret.of(secret));
  }

  private static Answered raise(Host host, AuthMethod method, String secret) throws Exception {
    String pair = Base64.getEncoder().encodeToString(("operator:" + secret).getBytes(UTF_8));
    String shown = method == AuthMethod.BASIC ? "Basic " + pair : "Bearer " + secret;
    var headers = Map.of("Content-Type", "application/json", "Authorization", shown);
    return host.sendAs("POST", "/admin/signal", headers, USR1);
  }

  @Test
  void nameAndPasswordAreBothChecked() throws Exception {
    AdminOptions options =
        new AdminOptions()
            .port(0)
            .authMethod(AuthMethod.BASIC)
            .basic("operator", Secret.of("pass:word"));
    try (Host host = Host.open(Transport.PLAIN, options)) {
      assertThat(basic(host, "operator:pass:word").status()).isEqualTo(202);
      for (String wrong : new String[] {"operator:password", "other:pass:word", "operator", ":"}) {
        Answered answered = basic(host, wrong);
        assertThat(answered.status()).as(wrong).isEqualTo(401);
        assertThat(answered.header("www-authenticate")).startsWith("Basic");
        // The message used to ask for credentials that the client had sent.
        assertThat(answered.json().get("message").asString()).endsWith("is missing or wrong");
      }
      Answered noBase64 =
          host.sendAs("POST", "/admin/signal", Map.of("Authorization", "Basic %%%"), USR1);
      assertThat(noBase64.status()).isEqualTo(401);
    }
  }

  /** A blank name used to make every request fail; a name with a colon cannot be sent. */
  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\t", "ann:lee"})
  void aNameThatNobodyCouldSignInWithIsRefused(String user) {
    assertThatThrownBy(() -> new AdminOptions().basic(user, Secret.of("password")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("colon");
  }

  private static Answered basic(Host host, String credentials) throws Exception {
    String encoded = Base64.getEncoder().encodeToString(credentials.getBytes(UTF_8));
    return host.sendAs(
        "POST",
        "/admin/signal",
        Map.of("Authorization", "Basic " + encoded, "Content-Type", "application/json"),
        USR1);
  }

  // r[verify signals.http.auth]
  @ParameterizedTest
  @ValueSource(strings = {"", "  ", "\n"})
  void anEmptySecretIsNone(String text) throws IOException {
    assertThatThrownBy(() -> Secret.of(text)).hasMessageContaining("would let anybody in");
    Path file = Files.writeString(directory.resolve("token"), text);
    assertThatThrownBy(() -> Secret.fromFile(file)).hasMessageContaining(file.toString());
    assertThatThrownBy(() -> Secret.fromEnvironment("BELFRY_NO_SUCH_VARIABLE"))
        .hasMessageContaining("BELFRY_NO_SUCH_VARIABLE is empty");
  }

  /** Such a secret used to be accepted, although no client can send it. */
  @ParameterizedTest
  @ValueSource(strings = {"# of the host\nsecret", "secret\r\nother", "se\u0000cret"})
  void aSecretThatNoHeaderCanHaveIsRefused(String text) throws Exception {
    Path file = Files.writeString(directory.resolve("token"), text);
    assertThatThrownBy(() -> Secret.fromFile(file))
        .hasMessageContaining(file + " has more than one line")
        .hasMessageNotContaining("secret");
  }

  /**
   * Such a secret used to be accepted, although no client can send it. Reading one from an endless
   * file never returned.
   */
  @Test
  void aSecretThatIsLongerThanAHeadIsRefused() {
    assertThatThrownBy(() -> Secret.fromFile(Path.of("/dev/zero")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the file /dev/zero is too long for a secret, which has at most 4096 bytes");
    assertThatThrownBy(() -> Secret.of("x".repeat(Secret.MAX_BYTES + 1)))
        .hasMessageContaining("is too long");
    assertThat(Secret.of("x".repeat(Secret.MAX_BYTES)).isSame("x")).isFalse();
  }

  /** Such a token used to be accepted but never matched, because headers are ASCII. */
  @Test
  void beyondAsciiASecretIsAPasswordAndNoToken() {
    Secret secret = Secret.of("gr\u00fcn");
    assertThatThrownBy(() -> new AdminOptions().bearerToken(secret))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the secret has characters beyond ASCII")
        .hasMessageNotContaining("gr\u00fcn");
    new AdminOptions().basic("operator", secret);
  }

  @Test
  void aSecretFromAFileIsComparedWithoutItsLineBreakAndNeverPrinted() throws IOException {
    Secret secret = Secret.fromFile(Files.writeString(directory.resolve("token"), "abc\n"));
    assertThat(secret.isSame("abc")).isTrue();
    assertThat(secret.isSame("abd")).isFalse();
    assertThat(secret).hasToString("(secret)");
  }

  // r[verify signals.http.auth-default]
  @Test
  void withoutCredentialsItDoesNotStartAndSaysHow() throws Exception {
    assertThatThrownBy(() -> new AdminOptions().port(0).check())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("does not start without credentials")
        .hasMessageContaining("bearerToken(Secret.fromFile(...))");
    assertThatThrownBy(() -> new AdminOptions().port(0).basic("a", Secret.of("b")).check())
        .hasMessageContaining("does not start without credentials"); // basic must be chosen
    assertThatThrownBy(() -> new AdminOptions().check()).hasMessageContaining("nowhere to listen");

    AdminTls tls = new AdminTls(directory, directory, Optional.of(directory), Set.of());
    AdminOptions all = new AdminOptions().port(0).tls(tls).bearerToken(Secret.of("t"));
    assertThat(all.effectiveMethod()).isEqualTo(AuthMethod.MTLS);
    assertThat(new AdminOptions().port(0).bearerToken(Secret.of("t")).effectiveMethod())
        .isEqualTo(AuthMethod.BEARER);
  }

  // r[verify signals.http.auth-config]
  @Test
  void theSettingChoosesTheMethod() {
    for (AuthMethod method : AuthMethod.values()) {
      assertThat(AuthMethod.of(method.id())).isEqualTo(method);
    }
    assertThatThrownBy(() -> AuthMethod.of("none"))
        .hasMessage(
            "'none' is not a value for admin.signal_endpoint_auth_method: say mtls, bearer, basic");
    assertThatThrownBy(
            () ->
                new AdminOptions()
                    .port(0)
                    .bearerToken(Secret.of("t"))
                    .authMethod(AuthMethod.MTLS)
                    .check())
        .hasMessageContaining("mtls needs TLS with client authorities");
  }

  // r[verify signals.http.auth-basic]
  // r[verify signals.http.surface]
  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1", "10.0.0.1", "192.168.1.2", "169.254.1.1", "fd00::1"})
  void basicIsForInternalAddresses(String address) throws Exception {
    assertThatCode(basicAt(address, true)::check).doesNotThrowAnyException();
    if (!InetAddress.getByName(address).isLoopbackAddress()) {
      assertThatThrownBy(basicAt(address, false)::check).hasMessageContaining("needs tls");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "::", "8.8.8.8", "2001:db8::1"})
  void basicIsNotForOthers(String address) throws Exception {
    assertThatThrownBy(basicAt(address, true)::check)
        .hasMessageContaining("basic is for internal networks only");
  }

  private AdminOptions basicAt(String address, boolean tls) throws Exception {
    AdminOptions options =
        new AdminOptions()
            .address(new InetSocketAddress(InetAddress.getByName(address), 1))
            .authMethod(AuthMethod.BASIC)
            .basic("operator", Secret.of("password"));
    return tls ? options.tls(AdminTls.of(directory, directory)) : options;
  }
}
