package dev.belfry.admin;

import dev.belfry.admin.Authenticator.Result;
import dev.belfry.http.Repeated;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Handles the requests of one listener. Checks, in this order: headers, route, the page that a
 * browser sent it from, identity, rate limit, and body. Logs every request.
 */
final class RequestHandler implements Handler {
  /** A scheme unknown to browsers, so that they do not show their own password dialog. */
  private static final String SIGN_IN = "Console realm=\"admin\"";

  private static final List<HeaderName> ONCE =
      List.of(HeaderNames.ORIGIN, HeaderNames.AUTHORIZATION, HeaderNames.CONTENT_TYPE);

  private static final Identity OWNER = new Identity("unix socket owner", "unix");

  private final Surface surface;
  private final Optional<Authenticator> authenticator;
  private final Optional<Console> console;
  private final ClientBudgets failures;
  private final RequestLog log;

  /**
   * Creates the handler of one listener.
   *
   * @param authenticator empty for the Unix socket, which only the file's owner can open
   * @param console empty if the listener has none
   * @param failures the rate limit per address for failed authentication
   */
  RequestHandler(
      Surface surface,
      Optional<Authenticator> authenticator,
      Optional<Console> console,
      ClientBudgets failures,
      RequestLog log) {
    this.surface = surface;
    this.authenticator = authenticator;
    this.console = console;
    this.failures = failures;
    this.log = log;
  }

  /** The answer to a request and the identity of its sender. */
  private record Seen(Answer answer, Identity identity) {}

  @Override
  public void handle(ServerRequest request, ServerResponse response) throws IOException {
    Visit visit = Visit.of(request);
    Optional<Route> route =
        Route.at(visit.path()).filter(it -> !it.isConsole() || console.isPresent());
    var body = new RequestBody(request);
    Seen seen = check(route, request, visit, body, UUID.randomUUID().toString());
    Answer answer = seen.answer();
    try {
      log.record(
          request.remotePeer(),
          seen.identity(),
          request.prologue().method().text(),
          visit.path(),
          route,
          answer);
      send(answer, request, response);
    } finally {
      answer.stream().ifPresent(ConsoleStream::close);
    }
    body.discardRest();
    if (answer.stream().isEmpty()) { // the server ends a stream's body after we return
      throw new CloseConnectionException("one request for each connection");
    }
  }

  private static void send(Answer answer, ServerRequest request, ServerResponse response)
      throws IOException {
    byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
    response
        .status(answer.status())
        .header(HeaderNames.CONTENT_TYPE, answer.contentType())
        .header("X-Correlation-Id", headerValue(answer.correlationId()))
        .header("Cache-Control", "no-store")
        .header(HeaderValues.CONNECTION_CLOSE); // the deadline covers the connection as a whole
    answer.headers().forEach((name, value) -> response.header(name, value));
    try {
      if (answer.stream().isPresent()) {
        try (OutputStream out = response.outputStream()) {
          answer.stream().get().writeTo(out);
        }
      } else if (request.prologue().method().text().equals(Route.HEAD)) {
        response.header(HeaderNames.CONTENT_LENGTH, Integer.toString(body.length)).send();
      } else {
        response.send(body);
      }
    } finally {
      answer
          .afterwards()
          .ifPresent(Runnable::run); // even if the client did not wait for the answer
    }
  }

  private Seen check(
      Optional<Route> found, ServerRequest request, Visit visit, RequestBody body, String id)
      throws IOException {
    Optional<String> repeated = Repeated.objection(request.headers(), ONCE);
    if (repeated.isPresent()) {
      return new Seen(Answer.error(400, "bad_request", repeated.get(), id), Identity.NOBODY);
    }
    if (found.isEmpty()) {
      return new Seen(Answer.error(404, "not_found", "There is nothing here", id), Identity.NOBODY);
    }
    Route route = found.get();
    if (!route.answers(request.prologue().method().text())) {
      String message = route.path() + " is for " + route.method();
      return new Seen(
          Answer.error(405, "method_not_allowed", message, id).header("Allow", route.method()),
          Identity.NOBODY);
    }
    Optional<String> objection = console.flatMap(it -> it.objection(route, visit));
    if (objection.isPresent()) {
      return new Seen(Answer.error(403, "foreign_page", objection.get(), id), Identity.NOBODY);
    }
    if (!route.needsCredentials()) {
      Identity who = route == Route.SESSION ? known(request, visit) : Identity.NOBODY;
      return new Seen(answer(route, visit, who, body, id), who);
    }
    Optional<String> authorization = request.headers().first(HeaderNames.AUTHORIZATION);
    return switch (authenticate(route, request, visit, authorization)) {
      case Result.Accepted(Identity who) -> new Seen(answer(route, visit, who, body, id), who);
      case Result.Forbidden(Identity who) ->
          new Seen(Answer.error(403, "forbidden", "This identity is not allowed here", id), who);
      case Result.Unknown(String challenge) ->
          new Seen(
              unknown(source(request), visit.isMarked() ? SIGN_IN : challenge, id),
              Identity.NOBODY);
    };
  }

  private Answer answer(Route route, Visit visit, Identity who, RequestBody body, String id)
      throws IOException {
    try {
      return route.isConsole()
          ? console.orElseThrow().answer(route, who, visit, id)
          : surface.answer(route, who, body, id);
    } catch (RequestBody.Unfinished e) { // logged like any other, even if nobody reads the answer
      return Answer.error(e.status(), "unfinished", "The body ended before its end", id);
    } catch (RuntimeException | Error e) { // from the program's code; the server would swallow it
      log.failure(route, e, id);
      return Answer.error(500, "internal", "Something went wrong here", id);
    }
  }

  /**
   * The sender's identity by session or certificate only. Failures are not rate-limited on this
   * route, so it must not reveal whether a secret is right.
   */
  private Identity known(ServerRequest request, Visit visit) {
    return authenticate(Route.SESSION, request, visit, Optional.empty())
            instanceof Result.Accepted(Identity known)
        ? known
        : Identity.NOBODY;
  }

  /**
   * Authenticates by the credentials in the request, or by session if there are none. A session
   * never authenticates a login: sessions could then be renewed forever.
   */
  private Result authenticate(
      Route route, ServerRequest request, Visit visit, Optional<String> authorization) {
    if (authenticator.isEmpty()) {
      return new Result.Accepted(OWNER);
    }
    Optional<Sessions.Session> session =
        authorization.isPresent() || route == Route.LOGIN
            ? Optional.empty()
            : console.flatMap(it -> it.session(visit));
    return session
        .<Result>map(
            it ->
                new Result.Accepted(new Identity("console:" + it.name(), source(request), session)))
        .orElseGet(
            () ->
                authenticator
                    .get()
                    .authenticate(source(request), authorization, certificate(request)));
  }

  private Answer unknown(String source, String challenge, String id) {
    long seconds = failures.trySpend(source);
    return seconds > 0
        ? Surface.tooMany(seconds, id)
        : Answer.error(
                401, "unauthorized", "The token, password or certificate is missing or wrong", id)
            .header("WWW-Authenticate", challenge);
  }

  private static Optional<X509Certificate> certificate(ServerRequest request) {
    return request
        .remotePeer()
        .tlsCertificates()
        .flatMap(chain -> Stream.of(chain).findFirst())
        .filter(X509Certificate.class::isInstance)
        .map(X509Certificate.class::cast);
  }

  private static String source(ServerRequest request) {
    return RequestLog.source(request.remotePeer());
  }

  /** Replaces whatever a header must not contain; the client chose the correlation id. */
  private static String headerValue(String text) {
    var plain = new StringBuilder();
    text.codePoints().forEach(c -> plain.append(c > ' ' && c < 0x7f ? (char) c : '?'));
    return plain.isEmpty() ? "-" : plain.toString();
  }
}
