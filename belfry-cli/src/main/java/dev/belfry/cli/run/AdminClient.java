package dev.belfry.cli.run;

import dev.belfry.cli.ClientToken;
import dev.belfry.cli.hosts.RunDirectory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Asks the admin surface of a host. */
final class AdminClient {
  static final String VARIABLE = "BELFRY_TOKEN";
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final URI surface;
  private final String token;

  private AdminClient(URI surface, String token) {
    this.surface = surface;
    this.token = token;
  }

  /**
   * With the token from a file, the environment or the run directory, whichever is first there.
   *
   * @throws IllegalArgumentException if what is there is no token
   */
  static AdminClient at(URI surface, @Nullable Path tokenFile) throws IOException {
    String variable = System.getenv(VARIABLE);
    if (tokenFile == null && variable != null) {
      return new AdminClient(surface, ClientToken.of(variable, VARIABLE));
    }
    Path file = tokenFile != null ? tokenFile : Token.place(RunDirectory.ofUser());
    try {
      return new AdminClient(surface, ClientToken.fromFile(file));
    } catch (NoSuchFileException e) {
      throw new IOException("there is no token in " + file + ": name a file by --token-file", e);
    }
  }

  /**
   * Raises a signal in the host.
   *
   * @return the host's reply
   * @throws IOException also if the host refuses it; the message has its reply
   */
  String raise(String signal, String reason) throws IOException, InterruptedException {
    ObjectNode body = JsonMapper.shared().createObjectNode().put("signal", signal);
    if (!reason.isEmpty()) {
      body.put("reason", reason);
    }
    HttpRequest request =
        HttpRequest.newBuilder(surface.resolve("/admin/signal"))
            .timeout(PATIENCE)
            .header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body.toString()))
            .build();
    try (HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build()) {
      HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
      if (answer.statusCode() != 202) {
        throw new IOException(surface + " refuses: " + answer.statusCode() + " " + text(answer));
      }
      return text(answer);
    } catch (ConnectException e) {
      throw new IOException("nobody listens at " + surface, e);
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
