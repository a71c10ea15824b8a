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
 * What a request is for. Its first line may name the host as well as the path, as to a proxy, and
 * then the header {@code Host} does not count (RFC 9112, 3.2.2).
 *
 * @param host the name, and the port if it is given, by which the client knows the server; in small
 *     letters
 * @param path without the query
 */
public record Target(String host, UriPath path) {
  private static final Pattern HOST = Pattern.compile("(?:\\[([^]]*)]|([^:]*))(?::[0-9]*)?");
  private static final Pattern ABSOLUTE = Pattern.compile("(?i:https?)://([^/]*)(/.*)?");

  /** That of a request. */
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

  /** The host without its port, an address without its brackets; empty for what is no host. */
  public static String hostName(String host) {
    Matcher parts = HOST.matcher(host);
    return !parts.matches() ? "" : parts.group(1) != null ? parts.group(1) : parts.group(2);
  }

  /** The address that a name is, if it is none that has to be looked up. */
  public static Optional<InetAddress> literal(String name) {
    try {
      return Optional.of(InetAddress.ofLiteral(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
