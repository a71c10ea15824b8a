package dev.belfry.admin;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the surface serves. Only health needs no credentials, and it says no more than yes or no.
 */
// r[impl signals.http.route]
enum Route {
  SIGNAL("POST", "/admin/signal", true),
  OPENAPI("GET", "/admin/openapi.json", true),
  METRICS("GET", "/metrics", true),
  LIVE("GET", "/health/live", false),
  READY("GET", "/health/ready", false);

  private final String method;
  private final String path;
  private final boolean needsCredentials;

  Route(String method, String path, boolean needsCredentials) {
    this.method = method;
    this.path = path;
    this.needsCredentials = needsCredentials;
  }

  static Optional<Route> at(String path) {
    return Stream.of(values()).filter(route -> route.path.equals(path)).findFirst();
  }

  String method() {
    return method;
  }

  String path() {
    return path;
  }

  boolean needsCredentials() {
    return needsCredentials;
  }
}
