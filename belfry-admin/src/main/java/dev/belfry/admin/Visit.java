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
 * What a request is for, and what it says about the browser it may come from.
 *
 * @param path what it asks for
 * @param host the name and port that the browser believes it talks to; empty if it does not say
 * @param origin where the page that sent it was loaded from
 * @param isMarked whether it has the header that only a page of the same origin can set
 * @param session the session's token
 * @param isSecure whether it came over TLS
 * @param client where the connection comes from
 * @param server where it arrived
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
  /** No form can set it, and a page of another origin is not allowed to. */
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
   * The value of a cookie. A browser sends those of all servers on the machine, and they may be
   * anything but a semicolon: the HTTP server takes a quotation mark for the beginning of a text
   * that has to end, and misses what comes after it.
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
   * Whether it comes from a browser that may have been told to send it by somebody else's page.
   * Other programs send neither header.
   */
  boolean isFromBrowser() {
    return origin.isPresent() || session.isPresent();
  }

  /** Whether the page that sent it was loaded from here. */
  boolean isSameOrigin() {
    return origin.filter(((isSecure ? "https://" : "http://") + host)::equals).isPresent();
  }

  /** The host without its port. */
  String hostName() {
    return Target.hostName(host);
  }

  /** The address it arrived at. */
  Optional<InetAddress> serverAddress() {
    return server instanceof InetSocketAddress tcp
        ? Optional.ofNullable(tcp.getAddress())
        : Optional.empty();
  }

  /**
   * The header that has the browser keep a session, or forget it where the token is empty.
   *
   * <p>Browsers give a cookie to every port of its host, so the name has the port: two hosts on one
   * machine do not overwrite each other's.
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
