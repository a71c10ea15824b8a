package dev.belfry.http;

import io.helidon.http.HeaderName;
import io.helidon.http.Headers;
import java.util.List;
import java.util.Optional;

/** Headers that say something once: of two, somebody in between may have gone by the other. */
public final class Repeated {
  private Repeated() {}

  /** What is wrong if one of them is there more than once, as a sentence. */
  public static Optional<String> objection(Headers headers, List<HeaderName> once) {
    return once.stream()
        .filter(name -> headers.all(name, List::of).size() > 1)
        .findFirst()
        .map(name -> "There is more than one header " + name.defaultCase());
  }
}
