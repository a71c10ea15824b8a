package dev.belfry.gateway;

import dev.belfry.http.Target;
import dev.belfry.workers.CallOptions;
import dev.belfry.workers.Delivery;
import dev.belfry.workers.Overload;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.webserver.http.ServerRequest;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * A call as requested by the head of a request.
 *
 * @param method the name of the worker's method
 * @param options deadline and delivery of the call
 */
record CallRequest(String method, CallOptions options) {
  private static final String PATH = "/call/";
  static final HeaderName DELIVERY = HeaderNames.create("Belfry-Delivery");
  static final HeaderName DEADLINE = HeaderNames.create("Belfry-Deadline");
  private static final Pattern MILLIS = Pattern.compile("[0-9]{1,15}");

  static CallRequest of(Target target, ServerRequest request, Duration longest) throws Refused {
    String path = target.path().rawPath();
    String name = path.startsWith(PATH) ? path.substring(PATH.length()) : "";
    if (name.isEmpty() || name.indexOf('/') >= 0) {
      throw new Refused(
          404, GatewayError.NOT_FOUND, "There is nothing here; calls go to POST /call/{method}");
    }
    if (!request.prologue().method().text().equals("POST")) {
      throw new Refused(
          Answer.error(405, GatewayError.METHOD_NOT_ALLOWED, "A call is a POST")
              .header("Allow", "POST"));
    }
    Headers headers = request.headers();
    return new CallRequest(
        decode(name),
        new CallOptions(deadline(headers, longest), delivery(headers), Overload.REFUSE));
  }

  private static String decode(String name) throws Refused {
    try {
      return URLDecoder.decode(name.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new Refused(400, GatewayError.BAD_REQUEST, "The path is not well escaped");
    }
  }

  private static Delivery delivery(Headers headers) throws Refused {
    String value = headers.first(DELIVERY).orElse("at-least-once");
    return switch (value) {
      case "at-least-once" -> Delivery.AT_LEAST_ONCE;
      case "at-most-once" -> Delivery.AT_MOST_ONCE;
      default ->
          throw new Refused(
              400,
              GatewayError.BAD_DELIVERY,
              "Belfry-Delivery is at-least-once or at-most-once, not '%s'".formatted(value));
    };
  }

  private static Duration deadline(Headers headers, Duration longest) throws Refused {
    String value = headers.first(DEADLINE).orElse(Long.toString(longest.toMillis()));
    long millis = MILLIS.matcher(value).matches() ? Long.parseLong(value) : 0;
    if (millis == 0) {
      throw new Refused(
          400,
          GatewayError.BAD_DEADLINE,
          "Belfry-Deadline is a number of milliseconds above 0, of at most 15 digits, not '%s'"
              .formatted(value));
    }
    Duration asked = Duration.ofMillis(millis);
    return asked.compareTo(longest) < 0 ? asked : longest;
  }
}
