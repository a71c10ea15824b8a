package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.RawHttp;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;

/** Sends what a browser would send over a plain socket, and on request what no browser would. */
final class Visitor {
  private final InetSocketAddress server;
  private final Map<String, String> headers = new HashMap<>();

  private Visitor(Host host) {
    this.server = new InetSocketAddress(InetAddress.getLoopbackAddress(), host.port());
    headers.put("Host", "localhost:" + host.port());
    headers.put("Origin", "http://localhost:" + host.port());
    headers.put("Belfry-Console", "1");
  }

  static Visitor of(Host host) {
    return new Visitor(host);
  }

  /** Returns a visitor that has signed in. */
  static Visitor signedIn(Host host) throws IOException {
    Visitor visitor = of(host);
    Answered login = visitor.login(Transport.TOKEN);
    assertThat(login.status()).isEqualTo(204);
    return visitor.with("Cookie", cookie(login));
  }

  static String cookie(Answered login) {
    return login.header("set-cookie").split(";", 2)[0];
  }

  /** Sets a header of later requests; removes it if the value is empty. */
  Visitor with(String name, String value) {
    if (value.isEmpty()) {
      headers.remove(name);
    } else {
      headers.put(name, value);
    }
    return this;
  }

  Answered login(String token) throws IOException {
    return send("POST", "/console/login", Map.of("Authorization", "Bearer " + token), "");
  }

  Answered signal(String name) throws IOException {
    return send(
        "POST",
        "/admin/signal",
        Map.of("Content-Type", "application/json"),
        "{\"signal\": \"%s\"}".formatted(name));
  }

  Answered post(String path) throws IOException {
    return send("POST", path, Map.of(), "");
  }

  Answered get(String path) throws IOException {
    return send("GET", path, Map.of(), "");
  }

  boolean isSignedIn() throws IOException {
    return get("/console/session").json().get("signed_in").asBoolean();
  }

  private Answered send(String method, String path, Map<String, String> more, String body)
      throws IOException {
    var all = new HashMap<>(headers);
    all.putAll(more);
    if (method.equals("GET")) {
      all.remove("Origin"); // as browsers do for GET requests to the same origin
    }
    return RawClient.send(server, method, path, all, body.getBytes(UTF_8));
  }

  /** Opens a connection and requests the stream. */
  SocketChannel stream() throws IOException {
    SocketChannel channel = SocketChannel.open(server);
    var head = new StringBuilder("GET /console/stream HTTP/1.1\r\n");
    headers.forEach(
        (name, value) -> {
          if (!name.equals("Origin")) {
            head.append(name + ": " + value + "\r\n");
          }
        });
    RawHttp.write(channel, head + "\r\n");
    return channel;
  }
}
