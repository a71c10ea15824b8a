package dev.belfry.gateway;

import dev.belfry.http.Repeated;
import dev.belfry.http.Target;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides who may call. On a loopback address that is every program on this machine, but not every
 * web page open in a browser on it: a cross-site page is recognised by its Origin, and one that
 * points its own name at 127.0.0.1 (DNS rebinding) by its Host.
 */
final class Guard {
  private static final List<HeaderName> ONCE =
      List.of(
          HeaderNames.ORIGIN,
          HeaderNames.AUTHORIZATION,
          CallRequest.DELIVERY,
          CallRequest.DEADLINE);
  private static final String BEARER = "bearer ";

  private final boolean isLoopback;
  private final @Nullable Predicate<String> bearer;

  Guard(GatewayOptions options) {
    this.isLoopback = options.isLoopback();
    this.bearer = options.bearer;
  }

  void check(Target target, Headers headers) throws Refused {
    Optional<String> repeated = Repeated.objection(headers, ONCE);
    if (repeated.isPresent()) {
      throw new Refused(400, GatewayError.BAD_REQUEST, repeated.get());
    }
    String host = target.host();
    if (isLoopback && !isOurs(Target.hostName(host))) {
      throw new Refused(
          403, GatewayError.FOREIGN_HOST, "This is not '%s': ask for 127.0.0.1".formatted(host));
    }
    String origin = headers.first(HeaderNames.ORIGIN).orElse("").toLowerCase(Locale.ROOT);
    if (headers.contains(HeaderNames.ORIGIN)
        && !origin.equals("http://" + host)
        && !origin.equals("https://" + host)) {
      throw new Refused(
          403, GatewayError.FOREIGN_ORIGIN, "Pages of '%s' may not call".formatted(origin));
    }
    if (bearer != null && !bearer.test(token(headers))) {
      throw new Refused(
          Answer.error(
                  401,
                  GatewayError.UNAUTHORIZED,
                  "The token in Authorization: Bearer is missing or wrong")
              .header("WWW-Authenticate", "Bearer"));
    }
  }

  private static boolean isOurs(String name) {
    return name.equals("localhost")
        || Target.literal(name).filter(InetAddress::isLoopbackAddress).isPresent();
  }

  private static String token(Headers headers) {
    String value = headers.first(HeaderNames.AUTHORIZATION).orElse("");
    return value.toLowerCase(Locale.ROOT).startsWith(BEARER)
        ? value.substring(BEARER.length()).strip()
        : "";
  }
}
