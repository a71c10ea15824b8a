package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who can use the console, over real sockets. */
@Timeout(120)
final class ConsoleAccessTest {
  private static Host open() throws Exception {
    return Host.open(Transport.PLAIN, new LivelyHost());
  }

  @Test
  void thePageIsForEverybodyAndMayLoadNothingFromElsewhere() throws Exception {
    try (Host host = open()) {
      for (String path :
          List.of("/", "/console/page.css", "/console/main.js", "/console/icon.svg")) {
        Answered answered = Visitor.of(host).get(path);
        assertThat(answered.status()).as(path).isEqualTo(200);
        assertThat(answered.header("content-security-policy"))
            .startsWith("default-src 'self';")
            .contains("frame-ancestors 'none'", "form-action 'none'")
            .doesNotContain("unsafe");
        assertThat(answered.header("x-content-type-options")).isEqualTo("nosniff");
        assertThat(answered.header("referrer-policy")).isEqualTo("no-referrer");
        assertThat(answered.header("cache-control")).isEqualTo("no-store");
      }
      Answered page = Visitor.of(host).get("/");
      assertThat(page.header("content-type")).isEqualTo("text/html; charset=utf-8");
      assertThat(page.body())
          .doesNotContainPattern("<style|style=|\\son\\w+=|<script(?! type=\"module\" src=)")
          .doesNotContain("://");
      assertThat(Visitor.of(host).post("/").status()).isEqualTo(405);
      assertThat(Visitor.of(host).get("/console/").status()).isEqualTo(404);
    }
  }

  /** As for a proxy. {@code Host} used to take precedence, and a target without a path got 404. */
  @ParameterizedTest
  @CsvSource({
    "http://localhost:1/, localhost:1, 200",
    "HTTP://127.0.0.1, localhost, 200",
    "http://localhost/console/session?, evil.example, 200",
    "http://evil.example/, localhost, 403",
    "http://me@localhost/, localhost, 403",
    "//localhost/console/session, localhost, 404",
  })
  void theFirstLineMayNameTheHostToo(String target, String host, int status) throws Exception {
    try (Host opened = open()) {
      assertThat(Visitor.of(opened).with("Host", host).get(target).status()).isEqualTo(status);
    }
  }

  @Test
  void withoutAViewThereIsNoConsole() throws Exception {
    try (Host host = Host.open(Transport.PLAIN)) {
      for (String path : List.of("/", "/console/main.js", "/console/session", "/console/stream")) {
        assertThat(Visitor.of(host).get(path).status()).as(path).isEqualTo(404);
      }
      assertThat(Visitor.of(host).login(Transport.TOKEN).status()).isEqualTo(404);
    }
  }

  /** The route used to reveal whether a secret is right, without rate limit or log record. */
  @Test
  void whoAsksForASessionLearnsNothingAboutSecrets() throws Exception {
    AdminOptions basic =
        new AdminOptions()
            .port(0)
            .authMethod(AuthMethod.BASIC)
            .basic("operator", Secret.of("password"));
    try (Host token = open();
        Host name = Host.open(Transport.PLAIN, basic, new LivelyHost())) {
      String pair =
          Base64.getEncoder().encodeToString("operator:password".getBytes(StandardCharsets.UTF_8));
      assertThat(Visitor.of(token).with("Authorization", "Bearer " + Transport.TOKEN).isSignedIn())
          .isFalse();
      assertThat(Visitor.of(name).with("Authorization", "Basic " + pair).isSignedIn()).isFalse();
    }
  }

  @Test
  void theSessionCookieIsForThisListenerAndForNoScript() throws Exception {
    try (Host host = open();
        Host tls = Host.open(Transport.TLS, new LivelyHost())) {
      Answered plain = Visitor.of(host).login(Transport.TOKEN);
      assertThat(plain.status()).isEqualTo(204);
      assertThat(plain.header("set-cookie"))
          .matches(
              "belfry-%d=[\\w-]{43}; Path=/; Max-Age=28800; HttpOnly; SameSite=Strict"
                  .formatted(host.port()));
      Answered secure =
          Transport.https(
              Host.certificates().client(Optional.empty()),
              tls.port(),
              "POST",
              "/console/login",
              Map.of(
                  "Origin",
                  "https://localhost:" + tls.port(),
                  "Belfry-Console",
                  "1",
                  "Authorization",
                  "Bearer " + Transport.TOKEN),
              new byte[0]);
      assertThat(secure.header("set-cookie"))
          .startsWith("__Host-belfry-" + tls.port() + "=")
          .endsWith("; Path=/; Max-Age=28800; HttpOnly; SameSite=Strict; Secure");
    }
  }

  /** Max-Age used to have the digits of the default locale, which browsers ignore. */
  @Test
  void theSessionCookieIsTheSameInEveryLocale() throws Exception {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.of("ar", "EG"));
    try (Host host = open()) {
      assertThat(Visitor.of(host).login(Transport.TOKEN).header("set-cookie"))
          .contains("; Max-Age=28800;");
    } finally {
      Locale.setDefault(before);
    }
  }

  /**
   * A quotation mark in another cookie used to hide the session, so the user had to sign in again.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "width=24\"; SESSION",
        "SESSION; width=24\"",
        "menu={\"open\": \"a, \\\"b\"}; SESSION; x",
        "plain; =; ;; a=b=c;SESSION",
        "$Version=1; SESSION",
      })
  void cookiesOfOtherServersOnTheMachineAreNoHindrance(String cookies) throws Exception {
    try (Host host = open()) {
      String session = Visitor.cookie(Visitor.of(host).login(Transport.TOKEN));
      Visitor visitor = Visitor.of(host).with("Cookie", cookies.replace("SESSION", session));
      assertThat(visitor.isSignedIn()).isTrue();
    }
  }

  @Test
  void aSignalGoesTheWayOfAllOthers() throws Exception {
    try (Host host = open()) {
      Visitor visitor = Visitor.signedIn(host);
      assertThat(visitor.isSignedIn()).isTrue();
      for (int i = 0; i < 5; i++) {
        assertThat(visitor.signal("USR1").status()).isEqualTo(202);
        assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(202);
      }
      Answered eleventh = visitor.signal("USR1"); // cookie and token share one budget
      assertThat(eleventh.status()).isEqualTo(429);
      assertThat(eleventh.header("retry-after")).isEqualTo("6");
      assertThat(host.log)
          .anyMatch(
              it ->
                  "202".equals(it.fields().get("status"))
                      && "console:bearer".equals(it.fields().get("identity"))
                      && "SIGUSR1".equals(it.fields().get("signal")));
      assertThat(visitor.get("/metrics").status()).isEqualTo(200);
    }
  }

  @Test
  void failedLoginsUseTheBudgetOfFailedAuthentication() throws Exception {
    try (Host host = open()) {
      for (int i = 0; i < 5; i++) {
        Answered wrong = Visitor.of(host).login("guess-" + i);
        assertThat(wrong.status()).isEqualTo(401);
        assertThat(wrong.headers()).doesNotContainKey("set-cookie");
        assertThat(wrong.header("www-authenticate")).startsWith("Console "); // avoids a dialog
        assertThat(host.sendAs("GET", "/metrics", Map.of(), new byte[0]).status()).isEqualTo(401);
      }
      assertThat(Visitor.of(host).login("guess").status()).isEqualTo(429);
      assertThat(host.sendAs("GET", "/metrics", Map.of(), new byte[0]).status()).isEqualTo(429);
      assertThat(Visitor.of(host).login(Transport.TOKEN).status()).isEqualTo(204);
      assertThat(host.log.stream().map(it -> it.text()))
          .noneMatch(text -> text.contains("guess-") || text.contains(Transport.TOKEN));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://evil.example",
        "http://localhost:PORT.evil.example",
        "null",
        "https://localhost:PORT",
        "http://localhost:1",
        ""
      })
  void anotherPageCanChangeNothing(String origin) throws Exception {
    try (Host host = open()) {
      String shown = origin.replace("PORT", Integer.toString(host.port()));
      Visitor other = Visitor.signedIn(host).with("Origin", shown);
      assertThat(other.signal("TERM").status()).isEqualTo(403);
      assertThat(other.post("/console/logout").status()).isEqualTo(403);
      assertThat(other.login(Transport.TOKEN).status()).isEqualTo(403);
      assertThat(host.test.exits()).isEmpty();
      assertThat(other.isSignedIn()).isTrue();
    }
  }

  /** The browser would hide the answer from the page, but the request is refused already. */
  @Test
  void anotherPageCanReadNothing() throws Exception {
    try (Host host = open()) {
      String cookie = Visitor.cookie(Visitor.of(host).login(Transport.TOKEN));
      var headers =
          Map.of(
              "Host", "localhost:" + host.port(), "Origin", "http://localhost:1", "Cookie", cookie);
      for (String path : List.of("/console/session", "/console/stream", "/metrics")) {
        assertThat(host.sendAs("GET", path, headers, new byte[0]).status()).as(path).isEqualTo(403);
      }
    }
  }

  @Test
  void aFormCanChangeNothing() throws Exception {
    try (Host host = open()) {
      Visitor form = Visitor.signedIn(host).with("Belfry-Console", "");
      assertThat(form.signal("TERM").status()).isEqualTo(403);
      assertThat(form.post("/console/logout").status()).isEqualTo(403);
      assertThat(form.login(Transport.TOKEN).status()).isEqualTo(403);
      assertThat(form.isSignedIn()).isTrue();
    }
  }

  /** The owner of a domain can point it to 127.0.0.1 (DNS rebinding). */
  @ParameterizedTest
  @ValueSource(strings = {"evil.example:PORT", "localhost.evil.example", "10.0.0.1:PORT", "[::2]"})
  void underSomebodyElsesNameThereIsNothing(String name) throws Exception {
    try (Host host = open()) {
      String shown = name.replace("PORT", Integer.toString(host.port()));
      Visitor visitor =
          Visitor.signedIn(host).with("Host", shown).with("Origin", "http://" + shown);
      for (String path : List.of("/", "/console/main.js", "/console/session", "/console/stream")) {
        assertThat(visitor.get(path).status()).as(path).isEqualTo(403);
      }
      assertThat(visitor.login(Transport.TOKEN).status()).isEqualTo(403);
      assertThat(visitor.signal("TERM").status()).isEqualTo(403);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost:PORT", "127.0.0.1:PORT", "[::1]:PORT", "LOCALHOST:9999"})
  void underItsOwnNamesItIsTheSame(String name) throws Exception {
    try (Host host = open()) {
      String shown = name.replace("PORT", Integer.toString(host.port()));
      Visitor visitor =
          Visitor.of(host)
              .with("Host", shown)
              .with("Origin", "http://" + shown.toLowerCase(Locale.ROOT));
      Answered login = visitor.login(Transport.TOKEN);
      assertThat(login.status()).isEqualTo(204);
      visitor.with("Cookie", Visitor.cookie(login));
      assertThat(visitor.signal("USR1").status()).isEqualTo(202);
    }
  }

  @Test
  void aProgramNeedsNoneOfThat() throws Exception {
    try (Host host = open()) {
      Visitor program =
          Visitor.of(host)
              .with("Host", "some.service.internal")
              .with("Origin", "")
              .with("Belfry-Console", "")
              .with("Authorization", "Bearer " + Transport.TOKEN);
      assertThat(program.signal("USR1").status()).isEqualTo(202);
      assertThat(program.get("/metrics").status()).isEqualTo(200);
      assertThat(program.get("/health/live").status()).isEqualTo(200);
    }
  }

  @Test
  void aSessionEndsWithItsTimeAndAtTheWishOfItsOwner() throws Exception {
    try (Host host = open()) {
      Visitor early = Visitor.signedIn(host);
      Visitor leaving = Visitor.signedIn(host);
      Answered logout = leaving.post("/console/logout");
      assertThat(logout.status()).isEqualTo(204);
      assertThat(logout.header("set-cookie"))
          .startsWith("belfry-" + host.port() + "=; Path=/; Max-Age=0; HttpOnly");
      assertThat(leaving.isSignedIn()).isFalse();
      assertThat(leaving.signal("USR1").status()).isEqualTo(401);

      host.advance(Sessions.LIFETIME.minusSeconds(1));
      assertThat(early.isSignedIn()).isTrue();
      host.advance(Duration.ofSeconds(1));
      assertThat(early.isSignedIn()).isFalse();
      assertThat(early.signal("USR1").status()).isEqualTo(401);
    }
  }

  /** A session used to get a new one, and so could be extended by eight hours again and again. */
  @Test
  void aSessionBeginsNoOther() throws Exception {
    try (Host host = open()) {
      Visitor visitor = Visitor.signedIn(host);
      Answered again = visitor.post("/console/login");
      assertThat(again.status()).isEqualTo(401);
      assertThat(again.headers()).doesNotContainKey("set-cookie");
      assertThat(visitor.isSignedIn()).isTrue();
      for (int i = 1; i < 10; i++) {
        visitor.post("/console/login");
      }
      assertThat(visitor.post("/console/login").status()).isEqualTo(429); // as any failed login
      assertThat(visitor.login(Transport.TOKEN).status()).isEqualTo(204);
    }
  }

  @Test
  void theOldestOfTooManySessionsEnds() throws Exception {
    try (Host host = open()) {
      Visitor first = Visitor.signedIn(host);
      Visitor second = Visitor.signedIn(host);
      for (int i = 2; i < Sessions.MAX; i++) {
        Visitor.signedIn(host);
      }
      assertThat(first.isSignedIn()).isTrue();
      Visitor.signedIn(host);
      assertThat(first.isSignedIn()).isFalse();
      assertThat(second.isSignedIn()).isTrue();
    }
  }

  @Test
  void withACertificateNobodySignsIn() throws Exception {
    try (Host host = Host.open(Transport.MTLS, new LivelyHost())) {
      assertThat(session(host, Optional.of("alice"))).contains("\"signed_in\":true");
      assertThat(session(host, Optional.of("bob"))).contains("\"signed_in\":false");
      assertThat(session(host, Optional.empty())).contains("\"method\":\"mtls\"");
      var page = Map.of("Origin", "https://localhost:" + host.port(), "Belfry-Console", "1");
      assertThat(host.sendAs("POST", "/console/login", page, new byte[0]).status()).isEqualTo(409);
      var json = Map.of("Content-Type", "application/json");
      byte[] usr1 = "{\"signal\": \"USR1\"}".getBytes(StandardCharsets.UTF_8);
      // A browser sends the certificate with requests from foreign pages too.
      var foreign = Map.of("Origin", "https://evil.example", "Content-Type", "application/json");
      assertThat(host.sendAs("POST", "/admin/signal", foreign, usr1).status()).isEqualTo(403);
      assertThat(host.sendAs("POST", "/admin/signal", json, usr1).status()).isEqualTo(202);
    }
  }

  private static String session(Host host, Optional<String> client) throws Exception {
    return Transport.https(
            Host.certificates().client(client),
            host.port(),
            "GET",
            "/console/session",
            Map.of(),
            new byte[0])
        .body();
  }

  @Test
  void aNameAndPasswordSignInToo() throws Exception {
    AdminOptions options =
        new AdminOptions()
            .port(0)
            .authMethod(AuthMethod.BASIC)
            .basic("operator", Secret.of("password"));
    try (Host host = Host.open(Transport.PLAIN, options, new LivelyHost())) {
      assertThat(Visitor.of(host).get("/console/session").json().get("method").asString())
          .isEqualTo("basic");
      String encoded =
          Base64.getEncoder().encodeToString("operator:password".getBytes(StandardCharsets.UTF_8));
      Answered login =
          Visitor.of(host).with("Authorization", "Basic " + encoded).post("/console/login");
      Visitor visitor = Visitor.of(host).with("Cookie", Visitor.cookie(login));
      assertThat(visitor.signal("USR1").status()).isEqualTo(202);
    }
  }
}
