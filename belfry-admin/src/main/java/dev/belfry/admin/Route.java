package dev.belfry.admin;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * The routes of the surface. Those without credentials reveal nothing about the host: health, which
 * only says yes or no, the console's page, and whether the user is signed in.
 */
// r[impl signals.http.route]
enum Route {
  SIGNAL("POST", "/admin/signal", true),
  OPENAPI("GET", "/admin/openapi.json", true),
  METRICS("GET", "/metrics", true),
  LIVE("GET", "/health/live", false),
  READY("GET", "/health/ready", false),
  PAGE("GET", "/", false),
  SESSION("GET", "/console/session", false),
  LOGIN("POST", "/console/login", true),
  LOGOUT("POST", "/console/logout", true),
  STREAM("GET", "/console/stream", true);

  /** Like GET, but without the body. */
  static final String HEAD = "HEAD";

  private final String method;
  private final String path;
  private final boolean needsCredentials;

  Route(String method, String path, boolean needsCredentials) {
    this.method = method;
    this.path = path;
    this.needsCredentials = needsCredentials;
  }

  static Optional<Route> at(String path) {
    return ConsoleFiles.has(path)
        ? Optional.of(PAGE) // and its parts
        : Stream.of(values()).filter(route -> route.path.equals(path)).findFirst();
  }

  String method() {
    return method;
  }

  /** Whether it answers a method: its own, and HEAD in place of GET unless the body is endless. */
  boolean answers(String asked) {
    return asked.equals(method) || (asked.equals(HEAD) && method.equals("GET") && this != STREAM);
  }

  String path() {
    return path;
  }

  boolean needsCredentials() {
    return needsCredentials;
  }

  /** Whether it belongs to the console, which not every listener has. */
  boolean isConsole() {
    return switch (this) {
      case PAGE, SESSION, LOGIN, LOGOUT, STREAM -> true;
      case SIGNAL, OPENAPI, METRICS, LIVE, READY -> false;
    };
  }

  boolean changesState() {
    return method.equals("POST");
  }
}
