package dev.belfry.admin;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The ways a client reaches the surface. */
enum Transport {
  PLAIN,
  TLS,
  MTLS,
  UNIX;

  static final String TOKEN = "correct-horse-battery-staple";

  /** The options of a surface that is reached this way, with its credentials. */
  AdminOptions options(Certificates certificates, Path socket) throws Exception {
    AdminTls tls = AdminTls.of(certificates.pem("server"), certificates.key("server"));
    return switch (this) {
      case PLAIN -> new AdminOptions().port(0).bearerToken(Secret.of(TOKEN));
      case TLS -> new AdminOptions().port(0).tls(tls).bearerToken(Secret.of(TOKEN));
      case MTLS ->
          new AdminOptions()
              .port(0)
              .tls(
                  tls.withClients(
                      certificates.clients(), Set.of(certificates.fingerprint("alice"))));
      case UNIX -> new AdminOptions().unixSocket(socket);
    };
  }

  Map<String, String> credentials() {
    return this == PLAIN || this == TLS ? Map.of("Authorization", "Bearer " + TOKEN) : Map.of();
  }

  /** Sends a request. */
  Answered send(
      Certificates certificates,
      int port,
      Path socket,
      String method,
      String path,
      Map<String, String> headers,
      byte[] body)
      throws Exception {
    return switch (this) {
      case PLAIN ->
          RawClient.send(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
              method,
              path,
              headers,
              body);
      case UNIX -> RawClient.send(UnixDomainSocketAddress.of(socket), method, path, headers, body);
      case TLS -> https(certificates.client(Optional.empty()), port, method, path, headers, body);
      case MTLS ->
          https(certificates.client(Optional.of("alice")), port, method, path, headers, body);
    };
  }

  static Answered https(
      HttpClient client,
      int port,
      String method,
      String path,
      Map<String, String> headers,
      byte[] body)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create("https://localhost:" + port + path))
            .timeout(Duration.ofSeconds(30))
            .method(method, HttpRequest.BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    HttpResponse<String> response =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    var names = new TreeMap<String, String>();
    response.headers().map().forEach((name, values) -> names.put(name, values.getFirst()));
    return new Answered(response.statusCode(), names, response.body());
  }
}
