package dev.belfry.admin;

import dev.belfry.http.Target;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.ServerRequestHeaders;
import io.helidon.webserver.http.ServerRequest;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The target of a request and what it reveals about the browser that may have sent it.
 *
 * @param path the path requested
 * @param host the host name and port by which the client addresses the server; empty if not given
 * @param origin the origin of the page that sent it
 * @param isMarked whether it has the {@link #MARK} header, which only a page of the same origin can
 *     set
 * @param session the session's token, from its cookie
 * @param isSecure whether it came over TLS
 * @param client the remote address of the connection
 * @param server its local address
 */
record Visit(
    String path,
    String host,
    Optional<String> origin,
    boolean isMarked,
    Optional<String> session,
    boolean isSecure,
    SocketAddress client,
    SocketAddress server) {
  /** A header that no form can set and that no page of another origin is allowed to set. */
  static final String MARK = "Belfry-Console";

  private static final HeaderName MARK_NAME = HeaderNames.create(MARK);

  static Visit of(ServerRequest request) {
    Target target = Target.of(request);
    boolean isSecure = request.isSecure();
    return new Visit(
        target.path().path(),
        target.host(),
        request.headers().first(HeaderNames.ORIGIN),
        request.headers().contains(MARK_NAME),
        cookie(request.headers(), cookieName(target.host(), isSecure)),
        isSecure,
        request.remotePeer().address(),
        request.localPeer().address());
  }

  /**
   * The value of a cookie. A browser sends the cookies of all servers on a host, and their values
   * may contain anything but a semicolon. Hence no use of the HTTP server's parser: it takes a
   * quotation mark for the start of a quoted string and misses the cookies after it.
   */
  private static Optional<String> cookie(ServerRequestHeaders headers, String name) {
    return headers.all(HeaderNames.COOKIE, List::of).stream()
        .flatMap(it -> Stream.of(it.split(";", -1)))
        .map(it -> it.split("=", 2))
        .filter(it -> it.length == 2 && it[0].strip().equals(name))
        .map(it -> it[1].strip())
        .findFirst();
  }

  /**
   * Whether a browser may have sent it on behalf of a foreign page. Other programs send neither an
   * origin nor a session.
   */
  boolean isFromBrowser() {
    return origin.isPresent() || session.isPresent();
  }

  /** Whether the page that sent it was loaded from this server. */
  boolean isSameOrigin() {
    return origin.filter(((isSecure ? "https://" : "http://") + host)::equals).isPresent();
  }

  /** The host without its port. */
  String hostName() {
    return Target.hostName(host);
  }

  /** The local IP address of the connection. */
  Optional<InetAddress> serverAddress() {
    return server instanceof InetSocketAddress tcp
        ? Optional.ofNullable(tcp.getAddress())
        : Optional.empty();
  }

  /**
   * The {@code Set-Cookie} value that stores a session in the browser, or deletes it if the token
   * is empty.
   *
   * <p>Browsers share cookies between all ports of a host name, so the cookie's name includes the
   * port: two hosts on one machine do not overwrite each other's.
   */
  String setCookie(String token) {
    String seconds = token.isEmpty() ? "0" : Long.toString(Sessions.LIFETIME.toSeconds());
    return "%s=%s; Path=/; Max-Age=%s; HttpOnly; SameSite=Strict%s"
        .formatted(cookieName(host, isSecure), token, seconds, isSecure ? "; Secure" : "");
  }

  private static String cookieName(String host, boolean isSecure) {
    String port = host.replaceFirst("^.*?(?::(\\d{1,5}))?$", "$1");
    return (isSecure ? "__Host-belfry-" : "belfry-") + (port.isEmpty() ? "default" : port);
  }
}
