package dev.belfry.admin;

import dev.belfry.http.ConnectionLimit;
import dev.belfry.http.OwnSelector;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.WebServerConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Sets up the listeners of the admin surface, with access control and limits against abuse.
 *
 * @param surface answers their requests
 * @param failures the rate limit for failed authentication
 * @param requests where each request is logged
 * @param timers closes connections past their deadline
 */
record Listeners(
    Surface surface, ClientBudgets failures, RequestLog requests, ScheduledExecutorService timers) {
  /** The most TCP connections, if the process has enough descriptors. */
  static final int TCP_CONNECTIONS = 512;

  /** TCP connections use at most one in this many of the process's descriptors. */
  private static final int PART_OF_DESCRIPTORS = 8;

  /** A separate limit, so that the operator gets in here whatever happens on the TCP port. */
  private static final int UNIX_CONNECTIONS = 16;

  /** The time limit for a whole request with its answer. */
  static final Duration CONNECTION_LIMIT = Duration.ofSeconds(5);

  private static final int BACKLOG = 1024;
  private static final int MAX_HEADER_BYTES = 8 * 1024;
  private static final String UNIX = "unix";

  /** Creates a deadline for the connections of one listener. */
  ConnectionDeadline deadline() {
    return new ConnectionDeadline(timers, CONNECTION_LIMIT);
  }

  /** Adds a TCP listener, for clients with credentials. */
  void addTcp(
      WebServerConfig.Builder server,
      InetSocketAddress address,
      AdminOptions options,
      ConnectionDeadline deadline,
      Optional<Console> console)
      throws IOException {
    var authenticator = Optional.of(new Authenticator(options));
    var handler = new RequestHandler(surface, authenticator, console, failures, requests);
    int connections = ConnectionLimit.of(TCP_CONNECTIONS, PART_OF_DESCRIPTORS);
    limit(server, deadline, connections, handler).bindAddress(address);
    if (options.tls != null) {
      server.tls(options.tls.build());
    }
  }

  /** Adds a Unix socket, for any client that can open its file; alone, or beside TCP. */
  void addUnix(WebServerConfig.Builder server, SocketFile file, boolean isAlone) {
    var handler =
        new RequestHandler(surface, Optional.empty(), Optional.empty(), failures, requests);
    if (isAlone) {
      limit(server, deadline(), UNIX_CONNECTIONS, handler).bindAddress(file.address());
    } else {
      ListenerConfig.Builder second = ListenerConfig.builder();
      limit(second, deadline(), UNIX_CONNECTIONS, handler).bindAddress(file.address());
      server.putSocket(UNIX, second.build());
    }
  }

  private <B extends ListenerConfig.BuilderBase<B, ?>> B limit(
      B listener, ConnectionDeadline deadline, int connections, RequestHandler handler) {
    return listener
        .protocolsDiscoverServices(false)
        .addConnectionSelector(
            new OwnSelector(
                MAX_HEADER_BYTES,
                RequestLimit::reader,
                connection -> new Refusals(connection.remotePeer(), requests)))
        .connectionOptions(deadline.socketOptions())
        .maxTcpConnections(connections)
        .backlog(BACKLOG)
        .shutdownGracePeriod(Duration.ZERO)
        .routing(routing -> routing.any(handler));
  }
}
