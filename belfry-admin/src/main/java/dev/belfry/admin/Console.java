package dev.belfry.admin;

import dev.belfry.signals.Behavior;
import dev.belfry.signals.BehaviorDefinition;
import dev.belfry.signals.Signal;
import dev.belfry.signals.Signals;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The page on which an operator watches the host and sends it signals, on the TCP listener. The
 * page itself is public and contains no data. Its data comes from a stream, which requires signing
 * in; its signals take the same path as all others.
 */
final class Console implements AutoCloseable {
  private static final String POLICY =
      "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'";

  private final Signals signals;
  private final AuthMethod method;
  private final OwnNames names;
  private final Sessions sessions;
  private final ConsoleFeed feed;
  private final ConnectionDeadline deadline;

  /**
   * Creates the console of the TCP listener.
   *
   * @param names the host names under which it may be addressed
   * @param feed the data that it shows; closed with it
   * @param deadline the deadline of the listener's connections
   */
  Console(
      AdminOptions options,
      OwnNames names,
      Signals signals,
      ConsoleFeed feed,
      ConnectionDeadline deadline) {
    this.signals = signals;
    this.method = options.effectiveMethod();
    this.names = names;
    this.sessions = new Sessions(options.nanoClock);
    this.feed = feed;
    this.deadline = deadline;
  }

  /**
   * Checks a request that a browser may have sent on behalf of this page or of a foreign one.
   *
   * @return why it is rejected; empty if it is acceptable or not from a browser
   */
  Optional<String> objection(Route route, Visit visit) {
    boolean isOpenToAll = !route.isConsole() && !route.needsCredentials();
    if (isOpenToAll || (!route.isConsole() && !visit.isFromBrowser())) {
      return Optional.empty();
    }
    if (!names.contains(visit.hostName(), visit.serverAddress())) {
      return Optional.of("The header Host names somebody else");
    }
    if (visit.origin().isPresent() && !visit.isSameOrigin()) {
      return Optional.of("The header Origin names somebody else");
    }
    if (route.changesState() && !(visit.isSameOrigin() && visit.isMarked())) {
      return Optional.of("Only the page of the console may ask for that, with " + Visit.MARK);
    }
    return Optional.empty();
  }

  /** The session of a signed-in user; always empty with client certificates. */
  Optional<Sessions.Session> session(Visit visit) {
    return method == AuthMethod.MTLS ? Optional.empty() : visit.session().flatMap(sessions::find);
  }

  /** Answers a request to one of the console's routes. */
  Answer answer(Route route, Identity identity, Visit visit, String correlationId) {
    Answer answer =
        switch (route) {
          case PAGE -> ConsoleFiles.answer(visit.path(), correlationId);
          case SESSION -> Answer.json(200, about(identity), correlationId);
          case LOGIN -> login(identity, visit, correlationId);
          case LOGOUT -> {
            identity.session().ifPresent(sessions::end);
            yield Answer.nothing(correlationId).header("Set-Cookie", visit.setCookie(""));
          }
          case STREAM -> stream(identity, visit, correlationId);
          case SIGNAL, OPENAPI, METRICS, LIVE, READY ->
              throw new IllegalArgumentException(route + " is not of the console");
        };
    return answer
        .header("Content-Security-Policy", POLICY)
        .header("Cross-Origin-Opener-Policy", "same-origin")
        .header("Cross-Origin-Resource-Policy", "same-origin")
        .header("Referrer-Policy", "no-referrer")
        .header("X-Content-Type-Options", "nosniff");
  }

  private Answer login(Identity identity, Visit visit, String correlationId) {
    return method == AuthMethod.MTLS
        ? Answer.error(409, "not_needed", "The certificate says it all", correlationId)
        : Answer.nothing(correlationId)
            .header("Set-Cookie", visit.setCookie(sessions.begin(identity.name())));
  }

  private Answer stream(Identity identity, Visit visit, String correlationId) {
    return feed.open(
            () -> identity.session().map(sessions::isLive).orElse(true),
            () -> deadline.renew(visit.client()))
        .map(stream -> Answer.stream("text/event-stream", stream, correlationId))
        .orElseGet(
            () ->
                Answer.error(503, "too_many", "Too many consoles are open already", correlationId));
  }

  /** What the page must know before it can show anything. */
  private Map<String, Object> about(Identity identity) {
    boolean isSignedIn = !identity.client().isEmpty();
    var about = new LinkedHashMap<String, Object>();
    about.put("signed_in", isSignedIn);
    about.put("method", method.id());
    if (isSignedIn) {
      about.put("identity", identity.name());
      about.put("can_sign_out", identity.session().isPresent());
      about.put("has_room", feed.hasRoom());
      about.put("signals", offered());
    }
    return about;
  }

  private List<Map<String, Object>> offered() {
    return SignalRequest.SIGNALS.stream()
        .flatMap(name -> signals.catalog().byName("SIG" + name).stream())
        .map(this::shown)
        .toList();
  }

  private Map<String, Object> shown(Signal signal) {
    Optional<String> meaning = Optional.ofNullable(feed.meanings().get(signal.shortName()));
    Optional<String> behavior =
        signals.catalog().behavior(signal.behavior().id()).map(BehaviorDefinition::description);
    var shown = new LinkedHashMap<String, Object>();
    shown.put("name", signal.shortName());
    shown.put("description", meaning.orElse(signal.description()));
    shown.put("effect", meaning.or(() -> behavior).orElse(""));
    shown.put(
        "ends", signal.behavior() != Behavior.CUSTOM && signal.behavior() != Behavior.OBSERVE_ONLY);
    return shown;
  }

  @Override
  public void close() {
    feed.close();
  }
}
