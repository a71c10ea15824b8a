package dev.belfry.http;

import io.helidon.http.HeaderName;
import io.helidon.http.Headers;
import java.util.List;
import java.util.Optional;

/**
 * Rejects repeated headers that may occur only once: an intermediary may have acted on the other
 * one.
 */
public final class Repeated {
  private Repeated() {}

  /** What is wrong, as a sentence, if one of the headers occurs more than once. */
  public static Optional<String> objection(Headers headers, List<HeaderName> once) {
    return once.stream()
        .filter(name -> headers.all(name, List::of).size() > 1)
        .findFirst()
        .map(name -> "There is more than one header " + name.defaultCase());
  }
}
