package dev.belfry.gateway;

import dev.belfry.http.Obstacle;
import dev.belfry.workers.WorkerPool;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * Serves the methods of a pool's workers over HTTP, as {@code POST /call/{method}}. The request's
 * body is the payload; the response's body is the result.
 *
 * {@snippet :
 * Gateway gateway = Gateway.open(new GatewayOptions(), pool);
 * // curl --data-binary @picture http://127.0.0.1:7070/call/resize
 * gateway.close(Duration.ofSeconds(10));
 * }
 *
 * <p>A call that fails is answered with a status that says whose fault it was, and details in JSON.
 * The gateway does not own the pool: its owner closes it after the gateway.
 */
public final class Gateway implements AutoCloseable {
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  /** How long to wait for requests that were cut off to notice. */
  private static final Duration CUT_LIMIT = Duration.ofSeconds(2);

  /** Effectively unlimited: {@link #close(Duration)} enforces its own limit. */
  private static final Duration SERVER_PATIENCE = Duration.ofDays(1);

  private static final int BACKLOG = 1024;

  private final WebServer server;
  private final Connections connections;

  private Gateway(WebServer server, Connections connections) {
    this.server = server;
    this.connections = connections;
  }

  /**
   * Starts listening.
   *
   * @throws IOException if it cannot listen
   * @throws IllegalArgumentException if the options are not safe; the message says what to do
   */
  public static Gateway open(GatewayOptions options, WorkerPool pool) throws IOException {
    options.check();
    // A server that does not start cannot be stopped either: it keeps a thread and a descriptor.
    Optional<String> obstacle = Obstacle.at(options.address);
    if (obstacle.isPresent()) {
      throw new IOException("the gateway cannot listen: " + obstacle.get());
    }
    var connections = new Connections(options.patience);
    WebServerConfig.Builder server = WebServer.builder();
    server
        .shutdownHook(false)
        .featuresDiscoverServices(false)
        .protocolsDiscoverServices(false)
        .addConnectionSelector(connections.selector())
        .connectionOptions(connections.socketOptions())
        .maxTcpConnections(Connections.most())
        .backlog(BACKLOG)
        .shutdownGracePeriod(SERVER_PATIENCE)
        .bindAddress(options.address)
        .routing(routing -> routing.any(new CallHandler(options, pool, connections)));
    try {
      WebServer started = server.build().start();
      if (!started.isRunning()) {
        throw new IllegalStateException(
            Obstacle.at(options.address).orElse("something was in the way at " + options.address));
      }
      return new Gateway(started, connections);
    } catch (RuntimeException e) { // thrown by the server for whatever keeps it from listening
      connections.close();
      throw new IOException("the gateway cannot listen: " + e.getMessage(), e);
    }
  }

  /** The TCP port on which it listens. */
  public int port() {
    return server.port();
  }

  /** Closes with a limit of five seconds; see {@link #close(Duration)}. */
  @Override
  public void close() {
    close(CLOSE_LIMIT);
  }

  /**
   * Stops listening, waits for requests in progress to finish, and closes. Requests that do not
   * finish within the limit are cut off and their calls cancelled; if this thread is interrupted,
   * that happens immediately.
   *
   * @return whether all requests finished
   */
  public boolean close(Duration limit) {
    Thread stop = Thread.ofVirtual().name("belfry-gateway-stop").start(server::stop);
    connections.closeIdle();
    boolean finished = connections.awaitNoneBusy(limit);
    connections.close();
    try {
      stop.join(CUT_LIMIT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return finished;
  }
}
