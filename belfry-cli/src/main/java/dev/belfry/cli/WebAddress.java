package dev.belfry.cli;

import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.channels.UnresolvedAddressException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The address of an HTTP server, as people type it. */
public final class WebAddress {
  private static final int MAX_PORT = 65_535;

  private WebAddress() {}

  /** Parses an address; empty if Java's HTTP client would reject its host, scheme or port. */
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

  /** Says why a connection failed, which the exception of Java's HTTP client does not. */
  public static String absence(URI url, ConnectException failure) {
    for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException) {
        return "no machine is known by the name " + url.getHost();
      }
    }
    return "nobody is there";
  }
}
