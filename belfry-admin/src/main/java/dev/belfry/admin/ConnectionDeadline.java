package dev.belfry.admin;

import dev.belfry.http.NotedOptions;
import io.helidon.common.socket.SocketOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes each connection a fixed time after it was accepted, whatever it is doing: handshake,
 * headers, body or answer. A timeout per read would not suffice, since a client can send a byte
 * just before each expires.
 *
 * <p>Nothing that a client sends extends its deadline. A stream's deadline is renewed with each
 * event written to the client, so a client that stops reading is disconnected like any other.
 */
final class ConnectionDeadline {
  private final Map<SocketAddress, Limited> open = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timers;
  private final Duration limit;

  ConnectionDeadline(ScheduledExecutorService timers, Duration limit) {
    this.timers = timers;
    this.limit = limit;
  }

  /** The server's socket options, extended to put each accepted connection under its deadline. */
  SocketOptions socketOptions() {
    return new NotedOptions(SocketOptions.builder().readTimeout(limit).build(), this::accepted);
  }

  private void accepted(SocketChannel connection) {
    try {
      SocketAddress client = connection.getRemoteAddress();
      var limited = new Limited(client, connection);
      if (client instanceof InetSocketAddress) { // clients of a Unix socket share one address
        open.put(client, limited);
      }
      limited.start();
    } catch (ClosedChannelException e) {
      // The client is already gone.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Renews the deadline of this client's TCP connection, unless it has passed. */
  void renew(SocketAddress client) {
    Limited limited = open.get(client);
    if (limited != null) {
      limited.renew();
    }
  }

  /** A connection and its deadline. */
  private final class Limited implements Runnable {
    private final SocketAddress client;
    private final SocketChannel connection;
    private @Nullable ScheduledFuture<?> end; // guarded by this

    Limited(SocketAddress client, SocketChannel connection) {
      this.client = client;
      this.connection = connection;
    }

    synchronized void start() {
      end = timers.schedule(this, limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    synchronized void renew() {
      if (end != null && end.cancel(false)) {
        start();
      }
    }

    @Override
    public void run() {
      open.remove(client, this); // a new connection may have the same remote address by now
      try {
        connection.close();
      } catch (IOException e) {
        // Gone is all it has to be.
      }
    }
  }
}
