package dev.belfry.http;

import io.helidon.common.uri.UriPath;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.net.InetAddress;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The target of a request. If the request line has it in absolute form, as for a proxy, the {@code
 * Host} header is ignored (RFC 9112, 3.2.2).
 *
 * @param host the host by which the client addresses the server, with its port if given; in lower
 *     case
 * @param path the path without the query
 */
public record Target(String host, UriPath path) {
  private static final Pattern HOST = Pattern.compile("(?:\\[([^]]*)]|([^:]*))(?::[0-9]*)?");
  private static final Pattern ABSOLUTE = Pattern.compile("(?i:https?)://([^/]*)(/.*)?");

  /** The target of a request. */
  public static Target of(ServerRequest request) {
    UriPath path = request.prologue().uriPath();
    Matcher absolute = ABSOLUTE.matcher(path.rawPath());
    return absolute.matches()
        ? of(absolute.group(1), UriPath.create(absolute.group(2) == null ? "/" : absolute.group(2)))
        : of(request.headers().first(HeaderNames.HOST).orElse(""), path);
  }

  private static Target of(String host, UriPath path) {
    return new Target(host.toLowerCase(Locale.ROOT), path);
  }

  /** The host without its port, an IPv6 address without its brackets; empty if it is malformed. */
  public static String hostName(String host) {
    Matcher parts = HOST.matcher(host);
    return !parts.matches() ? "" : parts.group(1) != null ? parts.group(1) : parts.group(2);
  }

  /** The address that a name spells literally; empty if the name would have to be resolved. */
  public static Optional<InetAddress> literal(String name) {
    try {
      return Optional.of(InetAddress.ofLiteral(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
