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
 * Sets up the listeners of the admin surface: who may use each, and what protects it against abuse.
 *
 * @param surface what they serve
 * @param failures how often a client may fail to authenticate
 * @param requests where each request is logged
 * @param timers what ends connections whose time is up
 */
record Listeners(
    Surface surface, ClientBudgets failures, RequestLog requests, ScheduledExecutorService timers) {
  /** At most, where the process may have enough descriptors. */
  static final int TCP_CONNECTIONS = 512;

  /** Elsewhere they have an eighth of the descriptors. */
  private static final int PART_OF_DESCRIPTORS = 8;

  /** A limit of its own, so that whatever happens at the TCP port, the operator gets in here. */
  private static final int UNIX_CONNECTIONS = 16;

  /** For a whole request, with its answer. */
  static final Duration CONNECTION_LIMIT = Duration.ofSeconds(5);

  private static final int BACKLOG = 1024;
  private static final int MAX_HEADER_BYTES = 8 * 1024;
  private static final String UNIX = "unix";

  /** A deadline for the connections of one listener. */
  ConnectionDeadline deadline() {
    return new ConnectionDeadline(timers, CONNECTION_LIMIT);
  }

  /** Listens at a TCP address, for clients with credentials. */
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

  /** Listens at a Unix socket, for whoever can open its file; alone, or beside the TCP address. */
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
