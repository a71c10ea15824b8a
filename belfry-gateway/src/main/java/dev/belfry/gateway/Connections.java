package dev.belfry.gateway;

import dev.belfry.http.ConnectionLimit;
import dev.belfry.http.NotedOptions;
import dev.belfry.http.OwnSelector;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.socket.PeerInfo;
import io.helidon.common.socket.SocketOptions;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The connections of the gateway's clients. The server exposes a connection twice: as a channel
 * when it is accepted, and as a reader when its first bytes arrive. Both are needed: the channel to
 * cut off a slow client at any point, the reader to detect that a client is gone.
 */
final class Connections implements AutoCloseable {
  private static final int MAX = 1024;

  /** Connections use at most one in this many of the process's descriptors. */
  private static final int PART_OF_DESCRIPTORS = 3;

  private static final Logger LOGGER = System.getLogger(Connections.class.getName());

  private static final int MAX_HEADER_BYTES = 16 * 1024;
  private static final long SWEEP_MILLIS = 100;
  private static final long LOOK_NANOS = 1_000_000;

  /** Identifies a connection: a client may use one port for two of our addresses. */
  private record Ends(SocketAddress remote, SocketAddress local) {}

  private final Map<Ends, Client> clients = new ConcurrentHashMap<>();
  private final Duration patience;
  private final ScheduledExecutorService sweeper =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("belfry-gateway-limits").factory());

  /** Never reset. Once set, clients that become idle are closed and new ones rejected. */
  private volatile boolean closing;

  /** Whether a request was cut off because its client took too long, while closing. */
  private volatile boolean cutOne;

  Connections(Duration patience) {
    this.patience = patience;
    var _ =
        sweeper.scheduleWithFixedDelay(
            this::sweep, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** The most connections that there may be. */
  static int most() {
    return ConnectionLimit.of(MAX, PART_OF_DESCRIPTORS);
  }

  boolean isClosing() {
    return closing;
  }

  /** The client that sent a request. */
  Client of(PeerInfo remote, PeerInfo local) {
    Client client = clients.get(new Ends(remote.address(), local.address()));
    if (client == null) {
      throw new CloseConnectionException("gone before it was seen: " + remote.address());
    }
    return client;
  }

  /** Cuts off overdue clients, and forgets closed ones. */
  private void sweep() {
    long now = System.nanoTime();
    try {
      clients.values().stream().filter(client -> client.isOverdue(now)).forEach(this::cut);
    } catch (RuntimeException | Error e) { // an exception would cancel all further sweeps
      LOGGER.log(Level.ERROR, "a client of the gateway cannot be cut off", e);
    }
    clients.values().removeIf(client -> !client.isOpen());
  }

  private void cut(Client client) {
    if (closing && client.isBusy()) {
      cutOne = true; // first, for whoever waits until it is no longer busy
    }
    client.cut();
  }

  /** Accepts no more requests; those in progress continue. */
  void closeIdle() {
    closing = true;
    clients.values().forEach(Client::cutIfIdle);
  }

  /** Waits until all requests have ended; false if any was cut off, or is still in progress. */
  boolean awaitNoneBusy(Duration limit) {
    long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(limit);
    while (clients.values().stream().anyMatch(Client::isBusy)) {
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return !cutOne;
  }

  /** Cuts off all clients. */
  @Override
  public void close() {
    closing = true;
    sweeper.shutdownNow();
    clients.values().forEach(Client::cut);
  }

  private void accepted(SocketChannel channel) {
    try {
      var client = new Client(channel, patience);
      clients.put(new Ends(channel.getRemoteAddress(), channel.getLocalAddress()), client);
      if (closing) {
        client.cut();
      }
    } catch (IOException e) {
      // The client is already gone, and the server will notice.
    }
  }

  /** The server's HTTP/1.1, with readers that count bytes and belong to their clients. */
  ServerConnectionSelector selector() {
    return new OwnSelector(MAX_HEADER_BYTES, this::reader, _ -> Answer::ofRubbish);
  }

  private DataReader reader(ConnectionContext context) {
    var inflow = new Inflow(context.dataReader());
    of(context.remotePeer(), context.localPeer()).inflow(inflow);
    return inflow.reader();
  }

  /** The server's socket options, extended to register each accepted connection. */
  SocketOptions socketOptions() {
    // A timeout per read would not suffice: a client can send a byte just before each expires.
    return new NotedOptions(
        SocketOptions.builder().readTimeout(Duration.ZERO).build(), this::accepted);
  }
}
