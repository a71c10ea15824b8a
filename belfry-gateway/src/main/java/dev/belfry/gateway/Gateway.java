package dev.belfry.gateway;

import dev.belfry.http.Obstacle;
import dev.belfry.workers.WorkerPool;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import java.io.IOException;
import java.time.Duration;

/**
 * Serves the methods of a pool's workers over HTTP: {@code POST /call/{method}}, where the body is
 * the payload and the body of the answer is the method's result.
 *
 * {@snippet :
 * Gateway gateway = Gateway.open(new GatewayOptions(), pool);
 * // curl --data-binary @picture http://127.0.0.1:7070/call/resize
 * gateway.close(Duration.ofSeconds(10));
 * }
 *
 * <p>A call that ends without an answer gets the status that says whose fault it was, and a body in
 * JSON that says more. The pool still belongs to its owner, who closes it after the gateway.
 */
public final class Gateway implements AutoCloseable {
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  /** For requests that were cut off to notice it. */
  private static final Duration CUT_LIMIT = Duration.ofSeconds(2);

  /** Longer than anybody waits: {@link #close(Duration)} has a limit of its own. */
  private static final Duration SERVER_PATIENCE = Duration.ofDays(1);

  private static final int BACKLOG = 1024;

  private final WebServer server;
  private final Connections connections;

  private Gateway(WebServer server, Connections connections) {
    this.server = server;
    this.connections = connections;
  }

  /**
   * Starts to listen.
   *
   * @throws IOException if it cannot listen there
   * @throws IllegalArgumentException if the options are not safe, with what to do about it
   */
  public static Gateway open(GatewayOptions options, WorkerPool pool) throws IOException {
    options.check();
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
    } catch (RuntimeException e) { // the server's own, for whatever keeps it from listening
      connections.close();
      throw new IOException("the gateway cannot listen: " + e.getMessage(), e);
    }
  }

  /** The TCP port it listens at. */
  public int port() {
    return server.port();
  }

  /** Closes within five seconds. */
  @Override
  public void close() {
    close(CLOSE_LIMIT);
  }

  /**
   * Stops listening, lets the requests under way finish and then closes. Those that have not
   * finished within the limit are cut off, and their calls are cancelled; if this thread is
   * interrupted, that happens at once.
   *
   * @return whether all have finished
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
