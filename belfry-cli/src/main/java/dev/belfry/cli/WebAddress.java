package dev.belfry.cli;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;

/** The address of something that speaks HTTP, as people type it. */
public final class WebAddress {
  private static final int MAX_PORT = 65_535;

  private WebAddress() {}

  /** Empty for what Java's HTTP client does not take: no host, another scheme, no possible port. */
  public static Optional<URI> parse(String text) {
    try {
      var url = new URI(text);
      boolean isWeb = text.matches("(?i)https?://.+");
      return isWeb && url.getHost() != null && url.getPort() <= MAX_PORT
          ? Optional.of(url)
          : Optional.empty();
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }
}
