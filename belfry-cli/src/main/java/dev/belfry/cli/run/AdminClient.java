package dev.belfry.cli.run;

import dev.belfry.cli.ClientToken;
import dev.belfry.cli.Reason;
import dev.belfry.cli.WebAddress;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.cli.hosts.RunDirectory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A client of a host's admin surface. */
final class AdminClient {
  static final String VARIABLE = "BELFRY_TOKEN";
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final URI surface;
  private final String token;
  private final Duration patience;

  AdminClient(URI surface, String token, Duration patience) {
    this.surface = surface;
    this.token = token;
    this.patience = patience;
  }

  private AdminClient(URI surface, String token) {
    this(surface, token, PATIENCE);
  }

  /**
   * Returns a client with the token from the file, the environment or the run directory, in that
   * order. The last is sent only to hosts of this user: anyone may listen at a loopback address.
   *
   * @throws IllegalArgumentException if the source does not hold a token
   */
  static AdminClient at(URI surface, @Nullable Path tokenFile) throws IOException {
    if (!isLoopback(surface) && !isEncrypted(surface)) {
      throw new IOException(
          surface + " is refused: a token does not go over a network in the clear; use https");
    }
    String variable = System.getenv(VARIABLE);
    if (tokenFile == null && variable != null) {
      return new AdminClient(surface, ClientToken.of(variable, VARIABLE));
    }
    Path file = tokenFile != null ? tokenFile : ownToken(surface, RunDirectory.ofUser());
    try {
      return new AdminClient(surface, ClientToken.fromFile(file));
    } catch (IOException e) {
      throw new IOException("cannot read the token in " + file + ": " + Reason.of(e), e);
    }
  }

  private static Path ownToken(URI surface, RunDirectory directory) throws IOException {
    List<HostEntry> hosts = directory.live();
    if (!isOneOf(hosts, surface)) {
      String others =
          hosts.stream()
              .filter(it -> it.admin() != null)
              .map(it -> it.admin() + " of " + it)
              .collect(Collectors.joining(", "));
      throw new IOException(
          "%s is not the admin surface of a host of this user%s; for another host, give the token with --token-file"
              .formatted(surface, others.isEmpty() ? "" : ", but there is " + others));
    }
    return Token.place(directory);
  }

  static boolean isOneOf(List<HostEntry> hosts, URI surface) {
    Optional<InetAddress> typed = address(surface);
    return typed.isPresent()
        && hosts.stream()
            .map(HostEntry::admin)
            .anyMatch(
                it ->
                    it != null
                        && it.getScheme().equalsIgnoreCase(surface.getScheme())
                        && it.getPort() == surface.getPort()
                        && address(it).equals(typed));
  }

  /** Resolves no name but localhost: the next lookup of a name may give another machine. */
  private static Optional<InetAddress> address(URI surface) {
    String host = surface.getHost();
    try {
      return Optional.of(
          host.equalsIgnoreCase("localhost")
              ? InetAddress.getLoopbackAddress()
              : InetAddress.ofLiteral(host));
    } catch (IllegalArgumentException name) {
      return Optional.empty();
    }
  }

  static boolean isLoopback(URI surface) {
    return address(surface).filter(InetAddress::isLoopbackAddress).isPresent();
  }

  private static boolean isEncrypted(URI surface) {
    return surface.getScheme().equalsIgnoreCase("https");
  }

  /**
   * Raises a signal in the host.
   *
   * @return the host's reply
   * @throws IOException if the host does not answer, or refuses; the message has its reply
   */
  String raise(String signal, String reason) throws IOException, InterruptedException {
    ObjectNode body = JsonMapper.shared().createObjectNode().put("signal", signal);
    if (!reason.isEmpty()) {
      body.put("reason", reason);
    }
    HttpRequest request =
        HttpRequest.newBuilder(surface.resolve("/admin/signal"))
            .timeout(patience)
            .header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body.toString()))
            .build();
    try (HttpClient client = HttpClient.newBuilder().connectTimeout(patience).build()) {
      HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
      if (answer.statusCode() != 202) {
        throw new IOException(surface + " refuses: " + answer.statusCode() + " " + text(answer));
      }
      return text(answer);
    } catch (SSLException e) {
      throw new IOException(
          "there is no safe connection to %s: %s; a certificate of your own is trusted by BELFRY_JAVA_OPTS='-Djavax.net.ssl.trustStore=FILE -Djavax.net.ssl.trustStorePassword=PASSWORD'"
              .formatted(surface, e.getMessage()),
          e);
    } catch (HttpTimeoutException e) {
      throw new IOException(
          surface + " does not answer: it hangs, is stopped, or something drops what is sent", e);
    } catch (ConnectException e) {
      throw new IOException("cannot ask " + surface + ": " + WebAddress.absence(surface, e), e);
    }
  }

  private static String text(HttpResponse<String> answer) {
    try {
      return JsonMapper.shared().readTree(answer.body()).path("message").asString(answer.body());
    } catch (JacksonException noJson) {
      return answer.body();
    }
  }
}
